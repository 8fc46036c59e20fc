/** Owns the steps that call one tool and look at what the model gets. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { cut, inline } from '../report.ts'
import { callTool, textOf, toolStartingWith, until } from '../stage.ts'
import type { Stage, Step } from '../stage.ts'

const LINE = 160

/** Call, show both sides, and give back the text that the model reads. */
async function shownCall({ host, show }: Stage, name: string, input: object): Promise<string> {
  const result = await callTool(host.ctx, name, input)
  const text = textOf(result.content)
  show('call', `${name} ${cut(inline(input), LINE)}`)
  show(result.isError ? 'error' : 'result', cut(text, LINE))
  assert(!result.isError, `${name} failed`)
  return text
}

export const callStep: Step = {
  title: 'A call: text in, text out',
  async run(stage) {
    const path = join(stage.host.files, 'hello.txt')
    const content = 'Hello from the model'
    await shownCall(stage, 'mcp__filesystem__write_file', { path, content })
    assert.equal(await readFile(path, 'utf8'), content, 'the file has other text')
    const text = await shownCall(stage, 'mcp__filesystem__read_text_file', { path })
    assert.equal(text, content, 'the model read other text')
  },
}

export const structuredStep: Step = {
  title: 'A structured result: an object for programs, text for the model',
  async run({ host, show }) {
    const name = 'mcp__everything__get-structured-content'
    const input = { location: 'New York' }
    const result = await callTool(host.ctx, name, input)
    assert(!result.isError, textOf(result.content))
    const { structuredContent } = result.value as { structuredContent?: { temperature?: unknown } }
    show('call', `${name} ${inline(input)}`)
    show('program', inline(structuredContent))
    show('model', cut(textOf(result.content), LINE))
    assert.equal(typeof structuredContent?.temperature, 'number', 'the object is not the one of its schema')
  },
}

export const dottedStep: Step = {
  title: 'A tool name that the model may not use: notes.search',
  async run(stage) {
    const { host, show } = stage
    const name = toolStartingWith(host.ctx, 'mcp__notes__notes_search_')
    const before = host.calledOnTheWire.length
    const text = await shownCall(stage, name, { query: 'plumber' })
    const raw = await until('the name on the wire', 2_000, () => host.calledOnTheWire[before])
    show('on the wire', raw)
    assert.match(name, /^[A-Za-z0-9_-]{1,64}$/, 'the public name is not legal')
    assert.equal(raw, 'notes.search', 'the server was called by another name')
    assert.equal(text, 'Call the plumber about the sink')
  },
}

export const namesakesStep: Step = {
  title: 'Three tools called search: two servers and the host itself',
  async run(stage) {
    await writeFile(join(stage.host.files, 'keyboard.txt'), '')
    const input = { query: 'key' }
    assert.equal(await shownCall(stage, 'mcp__notes__search', input), 'The spare key is with Ana')
    assert.equal(await shownCall(stage, 'mcp__desk__search', input), 'Bicycle key, top drawer')
    assert.equal(await shownCall(stage, 'search', input), 'keyboard.txt')
  },
}

export const errorStep: Step = {
  title: 'A refusal: the model is told, the host goes on',
  async run({ host, show }) {
    const name = 'mcp__filesystem__read_text_file'
    const path = resolve('cordis.yml')
    const result = await callTool(host.ctx, name, { path })
    const text = textOf(result.content)
    show('call', `${name} { path: a file outside its folder }`)
    show('error', cut(text, LINE))
    assert(result.isError, 'the server gave the file away')
    assert.match(text, /access denied/i)
  },
}
