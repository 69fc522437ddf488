/**
 * Keccak-256 of what is hashed for every operation: hashes of operations, and bundles of them, which are long. viem's
 * is JavaScript and takes some 70 microseconds a kilobyte; this one is WebAssembly and takes 4 (hash-wasm).
 */
import { createKeccak } from "hash-wasm"
import type { Hex } from "viem"

const hasher = await createKeccak(256)

/** Hashes bytes in hex; throws when the text is not that. */
export const keccak256 = (data: Hex): Hex => {
  const bytes = Buffer.from(data.slice(2), "hex")
  if (bytes.length * 2 + 2 !== data.length) throw new Error("Expected whole bytes in hex, to be hashed")
  return `0x${hasher.init().update(bytes).digest("hex")}`
}
