// Copies elements of the sandbox's page into an album, and lays them out on
// sheets. The function takes the styles of the sheets.
(css) => {
  window.album = {};
  window.keepShot = (sheet, caption, e) => {
    const copy = e.cloneNode(true);
    const inputs = e.querySelectorAll("input, textarea, option");
    copy.querySelectorAll("input, textarea, option").forEach((to, n) => {
      const from = inputs[n];
      if (to.tagName === "TEXTAREA") to.textContent = from.value;
      else if (to.tagName === "OPTION") to.toggleAttribute("selected", from.selected);
      else if (/radio|checkbox/.test(from.type)) to.toggleAttribute("checked", from.checked);
      else to.setAttribute("value", from.value);
    });
    for (const d of copy.querySelectorAll("details.notification, button.answer, button.reply")) d.remove();
    (window.album[sheet] ||= []).push({ caption, copy });
  };
  const sheets = new CSSStyleSheet(); // the page allows no style elements
  sheets.replaceSync(css);
  document.adoptedStyleSheets = [sheets];
  // The look is gray, both (light next to dark), or empty: the usual theme of the service.
  // Only is one copy, without its caption.
  window.layOut = (sheet, service, width, columns, look, only = -1) => {
    document.querySelector("#sheet")?.remove();
    document.body.className = "sheet " + look;
    const themes = look === "both" ? ["light", "dark"] : [""];
    const at = document.createElement("div");
    at.id = "sheet";
    at.style.setProperty("--n", columns);
    at.style.setProperty("--w", width + "px");
    at.style.setProperty("--themes", themes.length);
    const all = window.album[sheet] || [];
    for (const shot of only < 0 ? all : all.slice(only, only + 1)) {
      const figure = document.createElement("figure");
      figure.innerHTML = '<figcaption></figcaption><div class="themes"></div>';
      figure.firstChild.textContent = shot.caption;
      figure.firstChild.hidden = only >= 0;
      for (const theme of themes) {
        const section = document.createElement("section");
        section.id = service;
        section.className = "service " + theme;
        section.append(shot.copy.cloneNode(true));
        figure.lastChild.append(section);
      }
      at.append(figure);
    }
    document.body.append(at);
    scrollTo(0, 0);
    return all[only]?.caption || "";
  };
  window.asText = () => {
    const at = document.querySelector("#sheet");
    const struck = (e) => getComputedStyle(e).textDecorationLine.includes("line-through");
    for (const e of [...at.querySelectorAll("*")].filter(struck)) e.prepend("~~"), e.append("~~");
    for (const e of at.querySelectorAll("select")) {
      const options = [...e.options].map((o) => (o.selected ? "• " : "") + o.textContent);
      e.replaceWith("[▾ " + options.join(" | ") + "]");
    }
    for (const e of at.querySelectorAll("input, textarea")) {
      const choice = /radio|checkbox/.test(e.type);
      e.replaceWith(choice ? (e.checked ? "(x) " : "( ) ") : "[____ " + (e.value || e.placeholder) + "]");
    }
    for (const e of at.querySelectorAll("button, summary")) e.prepend("["), e.append("]");
    for (const e of at.querySelectorAll("ol, ul")) {
      const items = [...e.children].slice(8);
      if (items.length > 8) e.append("⋯ " + items.length + " more ⋯"), items.forEach((i) => i.remove());
    }
    for (const e of at.querySelectorAll("pre")) {
      const lines = e.textContent.split("\n");
      if (lines.length > 12) e.textContent = [...lines.slice(0, 8), "⋯ " + (lines.length - 8) + " more lines ⋯"].join("\n");
    }
    return at.innerText.trim();
  };
}
