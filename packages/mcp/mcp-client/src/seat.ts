/**
 * Owns the word for a place in a service of the host that may come late or go: what is put there is registered while
 * the service is there.
 */

export interface Seat<T> {
  /**
   * Registered from now on, whenever the service is there. A refusal of the service is told by `refused`, and costs this
   * one item.
   * @returns takes it away; may be called more than once
   */
  put(item: T, refused?: (error: unknown) => void): () => void
}
