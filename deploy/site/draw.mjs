// Draws docs/drawings/*.dot as SVG files of the same names, with Graphviz as
// WebAssembly. Each file contains the hash of its source, which a test compares.
import { instance } from '@viz-js/viz'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const dir = new URL('../../docs/drawings/', import.meta.url)
const viz = await instance()
for (const name of readdirSync(dir).filter((n) => n.endsWith('.dot'))) {
  const source = readFileSync(new URL(name, dir), 'utf8')
  const hash = createHash('sha256').update(source).digest('hex')
  const svg = viz
    .renderString(source, { format: 'svg' })
    .replace(/<!--[^]*?-->\n?/g, '')
    .replace(/(<text [^>]*>)(\d\W)/g, (_, tag, text) => tag.replace('<text', '<text font-weight="bold"') + text)
    .replace(/(<text [^>]*)font-family="[^"]*"([^>]*>[\w*./-]+\/[\w*./-]+<)/g, '$1font-family="monospace"$2')
    .replaceAll('font-family="Helvetica,sans-Serif"', 'font-family="Helvetica,Arial,sans-serif"')
  writeFileSync(new URL(name.replace(/dot$/, 'svg'), dir), svg.replace('<svg ', `<!-- source: sha256 ${hash} -->\n<svg `))
  console.log(`drew docs/drawings/${name.replace(/dot$/, 'svg')}`)
}
