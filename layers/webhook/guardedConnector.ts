/**
 * Opens connections to allowed addresses only. Names are resolved here and judged here, and the socket connects to what
 * was judged: a name that resolves otherwise a moment later (DNS rebinding) changes nothing. Addresses in the place of
 * a name are not resolved by sockets, so they are judged before.
 */
import { lookup as systemLookup, type LookupAddress } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import { buildConnector } from "undici"
import { isAllowedAddress, type Targets } from "#layers/webhook/targetRules.ts"

/** The name's addresses are not all such that something may be sent there. */
export class AddressRefused extends Error {
  readonly code = "ADDRESS_REFUSED"
}

export type Resolve = (
  hostname: string,
  done: (error: Error | null, addresses: ReadonlyArray<LookupAddress>) => void
) => void

export const systemResolve: Resolve = (hostname, done) => {
  systemLookup(hostname, { all: true, verbatim: true }, (error, addresses) => done(error, addresses ?? []))
}

/** Refuses a name with any address that is not allowed: an honest one has none. */
export const guardedLookup =
  (targets: Targets, resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const [first] = addresses
      if (error !== null) return callback(error, "")
      if (first === undefined || !addresses.every(({ address }) => isAllowedAddress(address, targets)))
        return callback(new AddressRefused("not an address of the internet"), "")
      if (options.all === true) callback(null, [...addresses])
      else callback(null, first.address, first.family)
    })
  }

export const guardedConnector = (targets: Targets, resolve: Resolve, timeoutMs: number): buildConnector.connector => {
  const connect = buildConnector({ lookup: guardedLookup(targets, resolve), timeout: timeoutMs, allowH2: false })
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/gu, "")
    if (isIP(host) !== 0 && !isAllowedAddress(host, targets))
      return callback(new AddressRefused("not an address of the internet"), null)
    connect(options, (...[error, socket]: Parameters<buildConnector.Callback>) => {
      if (error !== null) return callback(error, null)
      // What is connected is judged once more, before a byte of the request is written.
      if (!isAllowedAddress(socket.remoteAddress ?? "", targets)) {
        socket.destroy()
        return callback(new AddressRefused("not an address of the internet"), null)
      }
      callback(null, socket)
    })
  }
}
