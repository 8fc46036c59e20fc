/**
 * Owns the proof of which copy of the plugin dsh mounts: the product has a copy of its own under the same name.
 * Given to node by --import; it appends the URL of each module of such a package to PRODUCT_LOADED.
 */
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, next) {
    if (url.includes('/dsh-mcp-client/')) appendFileSync(process.env.PRODUCT_LOADED, `${url}\n`)
    return next(url, context)
  },
})
