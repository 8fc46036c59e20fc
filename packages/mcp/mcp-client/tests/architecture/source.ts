/**
 * Owns what the architecture rules see of a source file: its imports and exports, read from the syntax tree,
 * never by running it.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join, posix } from 'node:path'
import ts from 'typescript'

export interface Import {
  /** As written: `./types.ts`, `node:fs`, `undici`. */
  readonly specifier: string
  /** Erased by the compiler. */
  readonly typeOnly: boolean
  /** `import()` at run time. */
  readonly dynamic: boolean
}

export interface Source {
  /** Relative to the folder that was read, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly tree: ts.SourceFile
  readonly imports: readonly Import[]
}

/** Every node below `root`, parents first. */
export function nodesOf(root: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = []
  const visit = (node: ts.Node): void => {
    nodes.push(node)
    ts.forEachChild(node, visit)
  }
  ts.forEachChild(root, visit)
  return nodes
}

function erased(clause: ts.ImportClause | undefined): boolean {
  return clause?.isTypeOnly === true
}

function importOf(node: ts.Node): Import | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, typeOnly: erased(node.importClause), dynamic: false }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, typeOnly: node.isTypeOnly, dynamic: false }
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const { literal } = node.argument
    return ts.isStringLiteral(literal)
      ? { specifier: literal.text, typeOnly: true, dynamic: false }
      : undefined
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments
    // A computed specifier is shown as its text, so that a rule about names can refuse it.
    const specifier = argument === undefined || ts.isStringLiteral(argument) ? argument?.text : undefined
    return { specifier: specifier ?? argument?.getText() ?? '', typeOnly: false, dynamic: true }
  }
  return undefined
}

/** Parse one file. */
export function sourceOf(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true)
  const imports = nodesOf(tree).flatMap((node) => importOf(node) ?? [])
  return { path, text, tree, imports }
}

/** Paths of the files below `folder`, relative to it; folders named in `skipped` are not entered. */
export function filesBelow(
  folder: string,
  skipped: ReadonlySet<string> = new Set(['node_modules']),
): string[] {
  const found: string[] = []
  const visit = (relative: string): void => {
    for (const entry of readdirSync(join(folder, relative), { withFileTypes: true })) {
      const path = posix.join(relative, entry.name)
      if (entry.isDirectory() && !skipped.has(entry.name)) visit(path)
      if (entry.isFile()) found.push(path)
    }
  }
  visit('.')
  return found.toSorted()
}

/** Read and parse every TypeScript file below `folder`. */
export function sourcesBelow(folder: string): Source[] {
  return filesBelow(folder)
    .filter((path) => path.endsWith('.ts'))
    .map((path) => sourceOf(path, readFileSync(join(folder, path), 'utf8')))
}
