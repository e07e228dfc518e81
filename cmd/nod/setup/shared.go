package setup

import "go.yaml.in/yaml/v3"

// unshare makes a node independent of the rest of the file: an alias becomes a
// copy of the node that it refers to, and the aliases that refer to the node
// become copies of it.
func (d *draft) unshare(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		replace(n, n.Alias)
	}
	if n.Anchor == "" {
		return
	}
	var visit func(at *yaml.Node)
	visit = func(at *yaml.Node) {
		if at.Kind == yaml.AliasNode && at.Alias == n {
			replace(at, n)
		}
		for _, child := range at.Content {
			visit(child)
		}
	}
	visit(&d.doc)
	n.Anchor = ""
}

// replace puts a copy of a node in place of an alias. It keeps the comments of the
// alias.
func replace(alias, with *yaml.Node) {
	head, line, foot := alias.HeadComment, alias.LineComment, alias.FootComment
	*alias = *cloned(with)
	alias.HeadComment, alias.LineComment, alias.FootComment = head, line, foot
}

// cloned returns a copy of a node without anchors.
func cloned(n *yaml.Node) *yaml.Node {
	out := *n
	out.Anchor, out.Content = "", nil
	for _, child := range n.Content {
		out.Content = append(out.Content, cloned(child))
	}
	return &out
}

// find returns the node at a path, or nil if it does not exist. The caller must
// not change it.
func (d *draft) find(path []string) *yaml.Node {
	at := d.doc.Content[0]
	for _, key := range path {
		next := valueOf(at, key)
		if next == nil {
			next = merged(at, key)
		}
		if next == nil {
			return nil
		}
		if next.Kind == yaml.AliasNode {
			next = next.Alias
		}
		at = next
	}
	return at
}

// valueOf returns the value of a key that a mapping itself contains, or nil.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	for n := 0; n+1 < len(mapping.Content); n += 2 {
		if mapping.Content[n].Value == key {
			return mapping.Content[n+1]
		}
	}
	return nil
}

// merged returns the value of a key that a mapping has from its merge key (<<),
// or nil.
func merged(mapping *yaml.Node, key string) *yaml.Node {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	for n := 0; n+1 < len(mapping.Content); n += 2 {
		if mapping.Content[n].ShortTag() != "!!merge" {
			continue
		}
		from := []*yaml.Node{mapping.Content[n+1]}
		if from[0].Kind == yaml.SequenceNode {
			from = from[0].Content
		}
		for _, other := range from {
			if other.Kind == yaml.AliasNode {
				other = other.Alias
			}
			if value := valueOf(other, key); value != nil {
				return value
			}
			if value := merged(other, key); value != nil {
				return value
			}
		}
	}
	return nil
}
