/**
 * Mixed-case checksums of EVM addresses (EIP-55).
 *
 * The one place of the domain that needs a hash which `effect` does not carry: Keccak-256 comes from the audited,
 * dependency-free `@noble/hashes` (see docs/decisions/0002-canonical-identifiers.md).
 */
import { keccak_256 } from "@noble/hashes/sha3"

const encoder = new TextEncoder()
const shape = /^0x[0-9a-fA-F]{40}$/

/** The same few addresses (tokens, routers, the accounts at work) are checked many times a run, and a hash takes long. */
const mostKnown = 8_192
const known = new Map<string, string>()

/** The EIP-55 form of a 20-byte hex address in any case. */
export const checksum = (address: string): string => {
  const lower = address.slice(2).toLowerCase()
  const found = known.get(lower)
  if (found !== undefined) return found
  const computed = compute(lower)
  if (known.size >= mostKnown) known.clear()
  known.set(lower, computed)
  return computed
}

const compute = (lower: string): string => {
  const hash = keccak_256(encoder.encode(lower))
  let out = "0x"
  for (let i = 0; i < 40; i++) {
    const nibble = i % 2 === 0 ? hash[i >> 1]! >> 4 : hash[i >> 1]! & 15
    out += nibble >= 8 ? lower[i]!.toUpperCase() : lower[i]!
  }
  return out
}

/** True for all-lower, all-upper, and correctly checksummed mixed-case addresses; a wrong checksum is a typing error. */
export const isValid = (address: string): boolean => {
  if (!shape.test(address)) return false
  const body = address.slice(2)
  return body === body.toLowerCase() || body === body.toUpperCase() || address === checksum(address)
}
