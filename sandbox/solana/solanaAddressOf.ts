import { PublicKey } from "@solana/web3.js"
import * as Base58 from "#domain/values/Base58.ts"
import { solanaReference } from "#domain/values/Caip.ts"

const prefix = `solana:${solanaReference}:`

/** The address inside a CAIP-10 account of the Solana chain; undefined for every other text. */
export const solanaAddressOf = (accountId: string): PublicKey | undefined => {
  const address = accountId.slice(prefix.length)
  return accountId.startsWith(prefix) && Base58.isBytes32(address) ? new PublicKey(address) : undefined
}
