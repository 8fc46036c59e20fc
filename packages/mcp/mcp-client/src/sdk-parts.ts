/**
 * Owns the list of what this package uses of the MCP SDK at run time. Loaded by sdk.ts alone. Named one by one, so that
 * the build leaves out what nobody uses.
 */
export {
  Client,
  DpopSession,
  OAuthError,
  OAuthErrorCode,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
  assertSecureTokenEndpoint,
  checkResourceAllowed,
  computeScopeUnion,
  createPrivateKeyJwtAuth,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  fetchToken,
  generateDpopKeyPair,
  isStrictScopeSuperset,
  refreshAuthorization,
  registerClient,
  requestJwtAuthorizationGrant,
  resourceUrlFromServerUrl,
  selectClientAuthMethod,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client'
