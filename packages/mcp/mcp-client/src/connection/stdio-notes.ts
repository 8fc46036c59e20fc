/**
 * Owns how much one stdio server may say to the operator: each kind of trouble is shown a few times, the rest is
 * counted and told once at the end. Texts of the server are clean, redacted and short here.
 */
import { safeLine } from '../text.ts'
import type { SessionEvents } from '../types.ts'

export type NoteLevel = Parameters<SessionEvents['onNote']>[0]
export type NoteKind = 'noise' | 'problem' | 'oversize' | 'stderr' | 'lost'

const SHOWN: Readonly<Record<NoteKind, number>> = { noise: 1, problem: 5, oversize: 5, stderr: 1, lost: 1 }
const QUOTE_CHARS = 200

export class StdioNotes {
  private readonly onNote: SessionEvents['onNote']
  private readonly redact: (text: string) => string
  private readonly counts = new Map<NoteKind, number>()

  constructor(onNote: SessionEvents['onNote'], redact: (text: string) => string) {
    this.onNote = onNote
    this.redact = redact
  }

  /** One note, or one more of its kind in the count; then the text is not asked for. */
  note(kind: NoteKind, level: NoteLevel, text: () => string): void {
    const count = (this.counts.get(kind) ?? 0) + 1
    this.counts.set(kind, count)
    if (count <= SHOWN[kind]) this.onNote(level, text())
  }

  /** A text of the server as it may be shown. */
  quote(text: string): string {
    return safeLine(text, this.redact, QUOTE_CHARS)
  }

  /** Tell once what was only counted. Stray lines of stderr are no trouble and stay uncounted. */
  finish(): void {
    for (const [kind, count] of this.counts) {
      if (count > SHOWN[kind] && kind !== 'stderr') {
        this.onNote('debug', `${count - SHOWN[kind]} more of the kind "${kind}" from the server process`)
      }
    }
    this.counts.clear()
  }
}
