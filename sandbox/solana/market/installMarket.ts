/**
 * All that swaps on the world's Solana chain need: pools, the accounts that shared routes run through, and a lookup
 * table, as Jupiter keeps some, in which routes name accounts by their indexes.
 */
import { AddressLookupTableProgram, PublicKey } from "@solana/web3.js"
import { createHash } from "node:crypto"
import type { Ledger } from "#sandbox/solana/Ledger.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { issue, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { eventAuthority, jupiterProgram, sharedAuthority } from "#sandbox/solana/market/jupiterRoute.ts"
import { installPools, poolOf } from "#sandbox/solana/market/splPools.ts"

export const routeTable = new PublicKey(createHash("sha256").update("ballast sandbox route table").digest())

/** Addresses in the table's order. */
export const routeTableAddresses: ReadonlyArray<PublicKey> = [
  ...new Map(
    [
      jupiterProgram,
      eventAuthority,
      sharedAuthority,
      ...splCatalog.flatMap(({ mint, program }) => [mint, program]),
      ...splCatalog.map((token) => tokenAccount(token, sharedAuthority)),
      ...splCatalog
        .filter((token) => token !== usdc)
        .flatMap((token) => {
          const pool = poolOf(token)
          return [pool, tokenAccount(token, pool), tokenAccount(usdc, pool)]
        })
    ].map((key) => [key.toBase58(), key])
  ).values()
]

const metaLength = 56
const lookupTable = 1
const notDeactivated = 2n ** 64n - 1n

/** Writes the table without an authority, so that nobody changes it. */
const installRouteTable = (ledger: Ledger): void => {
  const meta = Buffer.alloc(metaLength)
  meta.writeUInt32LE(lookupTable, 0)
  meta.writeBigUInt64LE(notDeactivated, 4)
  const data = Uint8Array.from(Buffer.concat([meta, ...routeTableAddresses.map((key) => key.toBytes())]))
  ledger.setAccount({
    key: routeTable,
    owner: AddressLookupTableProgram.programId.toBase58(),
    data,
    executable: false,
    lamports: ledger.rentOf(data.length)
  })
}

/** Makes what a ledger does not have yet. */
export const installMarket = (ledger: Ledger, priceOf: (token: SplToken) => bigint): void => {
  installPools(ledger, priceOf)
  for (const token of splCatalog) {
    if (ledger.account(tokenAccount(token, sharedAuthority)) === undefined) {
      issue(ledger, sharedAuthority, { token, amountRaw: 0n })
    }
  }
  if (ledger.account(routeTable) === undefined) installRouteTable(ledger)
}
