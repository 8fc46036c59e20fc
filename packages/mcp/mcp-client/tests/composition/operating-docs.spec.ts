/** Owns the tests that hold docs/operating.md to the code: its example runs, its tables are complete. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { stdioRow, stdioServer, temporaryFolder } from '@dsh-mcp/testkit'
import { hostSuite } from './host-suite.ts'

const PACKAGE = join(import.meta.dirname, '..', '..')
const PAGE = readFileSync(join(PACKAGE, '..', '..', '..', 'docs', 'operating.md'), 'utf8')
const { boot } = hostSuite()

const sourceOf = (name: string): ts.SourceFile =>
  ts.createSourceFile(name, readFileSync(join(PACKAGE, 'src', name), 'utf8'), ts.ScriptTarget.Latest, true)

/** Names of the members of an interface; those of the literal type of `inner` below it. */
function membersOf(file: ts.SourceFile, name: string, inner?: string): string[] {
  const found = file.statements.filter(ts.isInterfaceDeclaration).find((node) => node.name.text === name)
  const names = (members: ts.NodeArray<ts.TypeElement> | undefined): ts.PropertySignature[] =>
    (members ?? ts.factory.createNodeArray()).filter(ts.isPropertySignature)
  const top = names(found?.members)
  const type = top.find((member) => member.name.getText(file) === inner)?.type
  const below = type !== undefined && ts.isTypeLiteralNode(type) ? names(type.members) : []
  return [
    ...top.map((member) => member.name.getText(file)).filter((member) => member !== inner),
    ...below.map((member) => `${inner}.${member.name.getText(file)}`),
  ]
}

/** The first cells of the rows below a heading, without back-ticks. */
function fieldsBelow(heading: string): string[] {
  const part = PAGE.slice(PAGE.indexOf(heading)).split(/\n#+ /)[0] ?? ''
  return [...part.matchAll(/^\| `([^`]+)` \|/gm)].map(([, field]) => String(field))
}

describe('docs/operating.md', () => {
  it('has every field of the status, and no other', () => {
    const fields = membersOf(sourceOf('types.ts'), 'ServerStatus', 'tools')
    expect(fieldsBelow('### Status').toSorted()).toEqual(fields.toSorted())
  })

  it('has every name that telemetry records', () => {
    const names = new Set(
      readFileSync(join(PACKAGE, 'src', 'telemetry.ts'), 'utf8').match(/(?<=')[a-z_]+(\.[a-z_]+)+(?=')/g),
    )
    expect(names.size).toBeGreaterThan(10)
    expect([...names].filter((name) => !PAGE.includes(`\`${name}\``))).toEqual([])
  })

  it('has an example that runs as it stands', async () => {
    const [, example = ''] = /```js\n\/\/ panel\.mjs\n(.*?)```/s.exec(PAGE) ?? []
    const path = join(temporaryFolder('docs'), 'panel.mjs')
    writeFileSync(path, example)
    const host = await boot({
      rows: [stdioRow('files', stdioServer('healthy'))],
      yml: `- id: mcp-panel\n  name: ${JSON.stringify(path)}\n`,
    })
    const drawn = (): string[] =>
      host.logs.filter(({ name }) => name === 'mcp-panel').map(({ text }) => text.replace(/\d+ ms/, 'N ms'))
    await host.until(() => drawn().includes('files: ready, 1 tools'))
    await host.call('mcp__files__echo', { message: 'x' })
    await host.until(() => drawn().includes('files: echo ok in N ms'))
    await host.ctx.mcpServers.restart('files')
    await host.until(() => drawn().filter((line) => line === 'files: ready, 1 tools').length > 1)
  })
})
