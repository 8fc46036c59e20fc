/** Owns how a run of the command ends: the documented exit codes, and the faults of usage and configuration. */

export const EXIT = {
  ok: 0,
  /** A server or a call failed. */
  failed: 1,
  /** The command line or the configuration is wrong: nothing was tried. */
  usage: 2,
  /** Ended by Ctrl-C or a signal. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The command line, or the file it names, is wrong. The message is for people and has no secret. */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UsageError'
  }
}
