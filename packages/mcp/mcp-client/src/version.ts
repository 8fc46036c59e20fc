/** Owns the version this client tells servers; a test holds it equal to package.json. */
export const VERSION = '0.2.0'
