/**
 * Mixed-case checksums of EVM addresses (EIP-55).
 *
 * The one place of the domain that needs a hash which `effect` does not contain: Keccak-256 comes from the audited,
 * dependency-free `@noble/hashes` (see docs/decisions/0002-canonical-identifiers.md).
 */
import { keccak_256 } from "@noble/hashes/sha3"

const encoder = new TextEncoder()
const shape = /^0x[0-9a-fA-F]{40}$/

/**
 * Checksums of the addresses that were asked for last: the same tokens and contracts are in every grant and every
 * catalogue, and a hash costs more than all else that reading an identifier takes.
 */
const known = new Map<string, string>()
const maxKnown = 16_384

/** The EIP-55 form of a 20-byte hex address in any case. */
export const checksum = (address: string): string => {
  const lower = address.slice(2).toLowerCase()
  const cached = known.get(lower)
  if (cached !== undefined) return cached
  const computed = compute(lower)
  if (known.size >= maxKnown) known.clear()
  known.set(lower, computed)
  return computed
}

/**
 * True for all-lower, all-upper, and correctly checksummed mixed-case addresses; a wrong checksum is a typing error.
 */
export const isValid = (address: string): boolean => {
  if (!shape.test(address)) return false
  const body = address.slice(2)
  return body === body.toLowerCase() || body === body.toUpperCase() || address === checksum(address)
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
