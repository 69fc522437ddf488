"use strict"
/**
 * Stands in for `rpc-websockets` (LGPL-3.0), through which @solana/web3.js subscribes. Ballast asks and never
 * subscribes, so a
 * `Connection` may be made, and every subscription fails. See docs/decisions/0175-solana-packages.md.
 */
const refused = () =>
  new Error("Subscriptions over WebSocket are not part of this build; ask again instead, as getSignatureStatuses does")

class CommonClient {
  on() {
    return this
  }
  connect() {
    throw refused()
  }
  call() {
    return Promise.reject(refused())
  }
  notify() {
    return Promise.reject(refused())
  }
  close() {}
}

exports.CommonClient = CommonClient
exports.WebSocket = () => {
  throw refused()
}
