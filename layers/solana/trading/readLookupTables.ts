/**
 * Lookup tables that a route uses, as the chain has them. A message names accounts by indexes in a table, and what is
 * checked before signing are the addresses that we read there: a table that is merely claimed could put other
 * accounts under a checked swap. Tables only grow, so what was read stays true.
 */
import { AddressLookupTableAccount, AddressLookupTableProgram, PublicKey } from "@solana/web3.js"
import { Effect, Option, Result } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { SwapRefused } from "#layers/solana/trading/checkSwap.ts"
import type { BuiltSwap } from "#layers/solana/trading/JupiterClient.ts"

/** A transaction of 1,232 bytes has no room for more. */
const tableLimit = 16

const notDeactivated = 2n ** 64n - 1n

/** The tables with the chain's own content; refused where a claim differs from it. */
export const readLookupTables = Effect.fn("solana.readLookupTables")(function* (
  claimed: Readonly<Record<string, ReadonlyArray<string>>>
): Effect.fn.Return<ReadonlyArray<AddressLookupTableAccount>, ChainUnavailable | SwapRefused, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const names = Object.keys(claimed)
  const refuse = (what: string) => new SwapRefused({ message: `Jupiter's swap is not signed: ${what}` })
  if (names.length > tableLimit) return yield* refuse(`it uses ${names.length} lookup tables`)
  const keys = names.map((name) => new PublicKey(name))
  const { values } = yield* rpc.accounts(keys)
  return yield* Effect.forEach(keys, (key, index) => {
    const account = values[index]!
    const table = Option.flatMap(account, ({ data, owner }) =>
      owner.equals(AddressLookupTableProgram.programId)
        ? Result.getSuccess(Result.try(() => AddressLookupTableAccount.deserialize(data)))
        : Option.none()
    )
    if (Option.isNone(table)) return Effect.fail(refuse(`${names[index]} is no lookup table`))
    const own = new AddressLookupTableAccount({ key, state: table.value })
    const isClaimed = claimed[names[index]!]!.every(
      (address, place) => own.state.addresses[place]?.toBase58() === address
    )
    if (!isClaimed) return Effect.fail(refuse(`the lookup table ${names[index]} holds other addresses`))
    return own.isActive() ? Effect.succeed(own) : Effect.fail(refuse(`the lookup table ${names[index]} is not active`))
  })
})

/** The tables as they are claimed, to see how large a transaction with them is; nothing is signed with these. */
export const claimedTables = ({ addressesByLookupTableAddress }: BuiltSwap): ReadonlyArray<AddressLookupTableAccount> =>
  Object.entries(addressesByLookupTableAddress ?? {}).map(
    ([key, addresses]) =>
      new AddressLookupTableAccount({
        key: new PublicKey(key),
        state: {
          deactivationSlot: notDeactivated,
          lastExtendedSlot: 0,
          lastExtendedSlotStartIndex: 0,
          addresses: addresses.map((address) => new PublicKey(address))
        }
      })
  )
