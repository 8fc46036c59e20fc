/** Owns the tests of the keys of a row that are about authorization, and of what in them is secret. */
import { expect, it } from 'vitest'
import { resolveConfig } from '../../src/config.ts'
import type { AuthSpec } from '../../src/types.ts'

const resolve = (more: object, env: Record<string, string> = {}): ReturnType<typeof resolveConfig>['spec'] =>
  resolveConfig({ serverName: 's', url: 'https://s.example/mcp', ...more }, env).spec

const authOf = (more: object, env?: Record<string, string>): AuthSpec | undefined => {
  const { target } = resolve(more, env)
  return target.kind === 'http' ? target.auth : undefined
}

it('has a default for all of it', () => {
  expect(authOf({})).toEqual({
    mode: 'auto',
    algorithm: 'ES256',
    scopes: [],
    callbackPort: 0,
    assertionCommand: [],
    headersCommand: [],
  })
})

it('takes values of the environment, and cuts the secrets out', () => {
  const env = { SECRET: 'client-s3cret', ID_SECRET: 'idp-s3cret' }
  const auth = {
    mode: 'jwt-bearer',
    clientId: 'us',
    clientSecret: '${SECRET}',
    clientMetadataUrl: 'https://we.example/client.json',
    privateKey: '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMG\n-----END PRIVATE KEY-----',
    issuer: 'https://as.example',
    assertionCommand: ['print', '--token', 'arg-s3cret'],
    idp: { tokenEndpoint: 'https://idp.example/token', clientId: 'there', clientSecret: '${ID_SECRET}' },
    scopes: ['a'],
  }
  expect(authOf({ auth, expandVars: true }, env)).toMatchObject({
    clientSecret: 'client-s3cret',
    clientMetadataUrl: 'https://we.example/client.json',
    issuer: 'https://as.example',
    idp: { tokenEndpoint: 'https://idp.example/token', clientId: 'there', clientSecret: 'idp-s3cret' },
  })
  const { redact } = resolve({ auth, headersCommand: ['get', '--api-key=key-s3cret'], expandVars: true }, env)
  const words = redact('client-s3cret idp-s3cret arg-s3cret key-s3cret MIGHAgEAMBMG us')
  expect(words).toBe(`${'[redacted] '.repeat(5)}us`)
  const plain = { ...auth, idp: { tokenEndpoint: 'https://idp.example/token', clientId: 'there' } }
  expect(authOf({ auth: plain, expandVars: true }, env)?.idp).toEqual({
    tokenEndpoint: 'https://idp.example/token',
    clientId: 'there',
  })
})

it.each([
  [{ auth: { clientMetadataUrl: 'http://we.example/client.json' } }, /auth\.clientMetadataUrl/],
  [{ auth: { clientMetadataUrl: 'https://we.example' } }, /auth\.clientMetadataUrl/],
  [{ auth: { clientMetadataUrl: 'no url' } }, /auth\.clientMetadataUrl/],
  [{ auth: { issuer: 'no url' } }, /auth\.issuer/],
  [{ auth: { mode: 'client-credentials' } }, /auth\.clientId/],
  [{ auth: { mode: 'client-credentials', clientId: 'c' } }, /auth\.clientSecret/],
  [{ auth: { mode: 'jwt-bearer', clientId: 'c' } }, /auth\.assertionCommand/],
  [{ auth: { clientSecret: 's3cret-1' } }, /auth\.clientId/],
  [{ auth: { idp: { clientId: 'c' } } }, /auth\.idp\.tokenEndpoint/],
  [{ auth: { idp: { tokenEndpoint: 'https://idp.example/' } } }, /auth\.idp\.clientId/],
  [{ headersCommand: [' '] }, /headersCommand\[0\]/],
  [{ headersCommand: ['a', 'b\0'] }, /headersCommand\[1\]/],
  [{ auth: { assertionCommand: [''] } }, /auth\.assertionCommand\[0\]/],
])('refuses %j', (row, words) => {
  expect(() => resolve(row)).toThrow(words)
})
