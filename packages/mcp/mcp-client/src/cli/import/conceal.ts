/**
 * Owns the taking of credentials out of foreign servers: each becomes a wanted variable, in its place and wherever else
 * the same text stands. What `${NAME}` of a row cannot express becomes a variable too. Pure.
 */
import { isCommon } from '../../redaction.ts'
import { isCredentialName, secretsOf } from '../../secrets.ts'
import { credentialSpans, isCredential, looksLikeCredential } from './credential.ts'
import { isGenericName, mapTarget, placeText, qualifiedName, variablePart } from './foreign-server.ts'
import type { ForeignServer, ForeignTarget, Piece, Place, Template, Wanted } from './foreign-server.ts'

/** Servers without credentials, and the credentials that were in them. */
export interface Concealed {
  readonly servers: readonly ForeignServer[]
  /** For the redactor of what is printed; they go nowhere else. */
  readonly secrets: readonly string[]
}

/** Shorter credentials are hidden where they stand, not looked for in other texts. */
const MIN_SEARCHED = 8

/** Take the credentials out of all servers. */
export function conceal(servers: readonly ForeignServer[]): Concealed {
  const found = new Map<string, Wanted>()
  const secrets: string[] = []
  const hidden = servers.map((server) => {
    const notes = [...server.notes]
    const hide = hider({ server: server.serverName, notes, found, secrets })
    const target = mapTarget(
      withoutUserInfo(server.target, { server: server.serverName, notes, found, secrets }),
      hide,
    )
    return { ...server, target, notes }
  })
  const searched = [...found]
    .filter(([value]) => value.length >= MIN_SEARCHED)
    .toSorted(([a], [b]) => b.length - a.length)
  const everywhere = hidden.map((server) => ({
    ...server,
    target: mapTarget(server.target, (template) =>
      expressible(replaceAll(template, searched), server.serverName),
    ),
  }))
  return { servers: everywhere, secrets }
}

interface Hiding {
  readonly server: string
  readonly notes: string[]
  readonly found: Map<string, Wanted>
  readonly secrets: string[]
}

function hider(hiding: Hiding): (template: Template, place: Place) => Template {
  return (template, place) => {
    const safe = template.map((piece) => withoutFallback(piece, place, hiding))
    const [only] = safe
    if (safe.length !== 1 || typeof only !== 'string') return mixed(safe, place, hiding)
    return hideSpans(only, place, hiding)
  }
}

function hideSpans(text: string, place: Place, hiding: Hiding): Template {
  const pieces: Piece[] = []
  let end = 0
  for (const span of credentialSpans(text, place)) {
    pieces.push(
      text.slice(end, span.start),
      remember(text.slice(span.start, span.end), span.label, place, hiding),
    )
    end = span.end
  }
  pieces.push(text.slice(end))
  return pieces.filter((piece) => piece !== '')
}

/** A text with variables in it is mostly safe already; its literal parts are judged by their shape. */
function mixed(template: Template, place: Place, hiding: Hiding): Template {
  const literals = template.filter((piece) => typeof piece === 'string')
  const text = literals.join(' ').replace(/\b(?:bearer|basic|token)\b/gi, '')
  const name = 'name' in place ? place.name : ''
  const isUrl = place.kind === 'url' || /^\s*[a-z][\w+.-]*:\/\//i.test(text)
  const isPart = isCredentialName(name) && !isUrl && /[A-Za-z\d]{6}/.test(text)
  if (!isPart && (isUrl || !looksLikeCredential(text))) {
    return place.kind === 'url'
      ? template.flatMap((piece) => (typeof piece === 'string' ? hideSpans(piece, place, hiding) : [piece]))
      : template
  }
  for (const piece of literals) hiding.secrets.push(piece.trim())
  hiding.notes.push(
    `${placeText(place)} holds a credential beside variables: set the whole value as one variable.`,
  )
  return [
    wantedOf(name === '' ? 'VALUE' : name, place, hiding.server, {
      key: `mixed:${JSON.stringify(template)}`,
    }),
  ]
}

function partsOf(value: string): string[] {
  const headers = { 'X-Key': value }
  const parts = secretsOf({ kind: 'http', flavour: 'auto', url: '', headers })
  return parts.filter((part) => part !== value && !isCommon(part))
}

/** A credential as the default of a variable: the variable stays. */
function withoutFallback(piece: Piece, place: Place, { notes, secrets }: Hiding): Piece {
  if (typeof piece === 'string' || piece.fallback === undefined || piece.fallback === '') return piece
  const { fallback, ...bare } = piece
  const name = 'variable' in piece ? piece.variable : piece.wanted[0]
  const isSecret = isCredential(name, fallback) || credentialSpans(fallback, place).length > 0
  if (!isSecret && !/[{}]/.test(fallback)) return piece
  if (isSecret) secrets.push(fallback)
  notes.push(
    `The default of ${name} ${isSecret ? 'looks like a credential' : 'holds a brace'} and is left out.`,
  )
  return bare
}

function remember(value: string, label: string, place: Place, hiding: Hiding): Wanted {
  const { found, notes, secrets, server } = hiding
  secrets.push(value)
  notes.push(
    `${placeText(place)} holds what looks like a credential: it is read from the environment instead.`,
  )
  const known = found.get(value)
  if (known !== undefined) return known
  const wanted = wantedOf(label, place, server, { key: `value:${value}`, value })
  found.set(value, wanted)
  // The password of a URL, or the credentials behind a scheme: on their own they are another variable.
  for (const part of partsOf(value)) {
    secrets.push(part)
    if (!found.has(part)) {
      found.set(
        part,
        wantedOf(`${label}_PART`, { kind: 'url' }, server, { key: `value:${part}`, value: part }),
      )
    }
  }
  return wanted
}

function wantedOf(
  label: string,
  place: Place,
  server: string,
  rest: { key: string; value?: string },
): Wanted {
  const part = label.toLowerCase() === 'authorization' ? 'TOKEN' : variablePart(label)
  const qualified = qualifiedName(server, part)
  const isOwnName = place.kind === 'env' && /^[A-Za-z_]\w*$/.test(label) && !isGenericName(label)
  return { wanted: isOwnName ? [label, qualified] : [qualified], origin: placeText(place), ...rest }
}

/** A URL with user info is refused by the row: it moves into a header. */
function withoutUserInfo(target: ForeignTarget, hiding: Hiding): ForeignTarget {
  const [first, ...rest] = target.kind === 'http' ? target.url : []
  const match = typeof first === 'string' ? /^(https?:\/\/)([^/?#@]*)@(.*)$/is.exec(first) : null
  if (target.kind !== 'http' || match === null) return target
  const [, scheme = '', info = '', tail = ''] = match
  hiding.secrets.push(info, ...info.split(':'))
  hiding.notes.push(
    'The user info of the URL becomes a header: set the variable to the Base64 form of user:password.',
  )
  const basic = wantedOf('BASIC_AUTH', { kind: 'url' }, hiding.server, { key: `userinfo:${info}` })
  const others = target.headers.filter(([name]) => name.toLowerCase() !== 'authorization')
  return {
    ...target,
    url: [scheme + tail, ...rest],
    headers: [...others, ['Authorization', ['Basic ', basic]]],
  }
}

function replaceAll(template: Template, searched: readonly (readonly [string, Wanted])[]): Template {
  return searched.reduce<Template>(
    (pieces, [value, wanted]) =>
      pieces.flatMap((piece) =>
        typeof piece === 'string' && piece.includes(value) ? cut(piece, value, wanted) : [piece],
      ),
    template,
  )
}

function cut(text: string, value: string, wanted: Wanted): Piece[] {
  return text
    .split(value)
    .flatMap((part, index): Piece[] => (index === 0 ? [part] : [wanted, part]))
    .filter((piece) => piece !== '')
}

/** `$` right before a reference would be read as an escape: such a text can only be a variable as a whole. */
function expressible(template: Template, server: string): Template {
  const isFine = template.every((piece, index) => {
    const next = template[index + 1]
    return typeof piece !== 'string' || !piece.endsWith('$') || next === undefined || typeof next === 'string'
  })
  if (isFine) return template
  const key = `dollar:${JSON.stringify(template)}`
  return [{ wanted: [qualifiedName(server, 'VALUE')], key, origin: 'a text with a $ before a variable' }]
}

/** The texts that a redactor of the output is made from. */
export function searchable(secrets: readonly string[]): string[] {
  return secrets.filter((secret) => !isCommon(secret))
}
