/**
 * The owner's way out of a wallet without the service: the owner's Solana key is put into each agent's role, and then
 * signs for the sub-accounts itself; where the deployed program does not have that, the root withdraws. It needs a node
 * and the owner's keys. What the chain refuses is named and left, and the whole may be started again at any time.
 */
import type { PublicKey } from "@solana/web3.js"
import { Effect } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { addressOfKey, stateIn } from "#layers/solana/enrollment/findWallet.ts"
import type { OutcomeUnknown } from "#layers/solana/lifecycle/errors.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { addressesOf } from "#layers/solana/swig/PortfolioRole.ts"
import { readProgramFeatures } from "#layers/solana/withdrawal/programFeatures.ts"
import type { WalletRole, WalletState } from "#layers/solana/swig/WalletState.ts"
import { type Holding, readHoldings } from "#layers/solana/token/readHoldings.ts"
import { currentSlot, type OwnerKey } from "#layers/solana/withdrawal/leave/OwnerKey.ts"
import { replaceAuthority, replaceAuthorityByEvm } from "#layers/solana/withdrawal/leave/replaceAuthority.ts"
import { sendAsOwner } from "#layers/solana/withdrawal/leave/sendAsOwner.ts"
import { CannotLeave, type Leaver, takeOutByRole, takeOutByRoot } from "#layers/solana/withdrawal/leave/takeOut.ts"

export interface Leaving extends Leaver {
  /** `walletAccountId` of enrollment. */
  readonly wallet: PublicKey
}

/** What became of one portfolio's holdings. */
export interface Left {
  readonly deposit: string
  readonly taken: ReadonlyArray<string>
  /** Assets that stayed, each with the reason. */
  readonly stayed: ReadonlyArray<readonly [assetId: string, reason: string]>
}

/** Transactions that are sent at a time; each waits until it is final, some 13 seconds. */
const assetConcurrency = 4

const rootOf = ({ roles }: WalletState): WalletRole | undefined => roles.find(({ id }) => id === 0)

const isRoot = ({ evm, key }: OwnerKey, role: WalletRole | undefined): boolean => {
  const holder = role?.holder
  if (evm === undefined) return holder?._tag === "Ed25519" && holder.key.equals(key.publicKey)
  return holder?._tag === "Secp256k1" && addressOfKey(holder.key) === addressOfKey(Uint8Array.of(4, ...evm.publicKey))
}

/** The wallet as the chain shows it now, whose root is the owner's. */
const readWallet = Effect.fnUntraced(function* ({ owner, wallet }: Leaving) {
  const { values } = yield* (yield* SolanaRpc).accounts([wallet])
  const state = stateIn(values[0]!)
  if (state === null || state === undefined) {
    return yield* new CannotLeave({ message: `${wallet.toBase58()} is no Swig wallet; name walletAccountId` })
  }
  if (!isRoot(owner, rootOf(state))) {
    return yield* new CannotLeave({ message: `The root of ${wallet.toBase58()} is another key than the owner's` })
  }
  return state
})

/** What the next signature of the root names, by the wallet as it is now. */
const nextTerms = Effect.fnUntraced(function* (leaving: Leaving) {
  const holder = rootOf(yield* readWallet(leaving))?.holder
  return { slot: yield* currentSlot, odometer: holder?._tag === "Secp256k1" ? holder.odometer + 1 : 0 }
})

/** Puts the owner's Solana key into the agent's role. */
const takeOver = Effect.fnUntraced(function* (leaving: Leaving, { holder, id: role }: WalletRole) {
  const { fees, owner, wallet } = leaving
  const { evm, key } = owner
  const { publicKey } = key
  if (holder._tag === "Ed25519" && holder.key.equals(publicKey)) return
  const instruction =
    evm === undefined
      ? replaceAuthority(wallet, { role, holder: publicKey, key: publicKey })
      : yield* replaceAuthorityByEvm(wallet, { role, key: publicKey }, { evm, terms: yield* nextTerms(leaving) })
  yield* sendAsOwner({ fees, key }, [instruction]).pipe(
    Effect.catchTag("SimulationFailed", ({ message }) =>
      Effect.fail(new CannotLeave({ message: `The owner's key cannot be put into role ${role}: ${message}` }))
    )
  )
})

/** Everything out of every portfolio of the wallet. */
export const leave = Effect.fn("solana.leave")(function* (
  leaving: Leaving
): Effect.fn.Return<ReadonlyArray<Left>, ChainUnavailable | CannotLeave | OutcomeUnknown, SolanaRpc> {
  const state = yield* readWallet(leaving)
  const { replacesKeys } = yield* readProgramFeatures(leaving.owner.key.publicKey)
  const roles = state.roles.filter(({ actions }) => actions.some(({ _tag }) => _tag === "SubAccount"))
  return yield* Effect.forEach(roles, (role) =>
    Effect.gen(function* () {
      const place = { walletId: state.id, roleId: role.id }
      const { deposit } = addressesOf(place)
      if (replacesKeys) yield* takeOver(leaving, role)
      const takeOut = (holding: Holding) =>
        replacesKeys
          ? takeOutByRole(leaving, { place, holding })
          : takeOutByRoot(leaving, { place, holding }, nextTerms(leaving))
      const { tokens } = yield* readHoldings(deposit)
      const results = yield* Effect.forEach(
        tokens.filter(({ raw }) => raw > 0n),
        (holding) =>
          takeOut(holding).pipe(
            Effect.match({
              onSuccess: () => [holding.assetId, null] as const,
              onFailure: (error) =>
                [holding.assetId, error._tag === "ChainUnavailable" ? error.reason : error.message] as const
            })
          ),
        // An EVM root's signatures count one after another.
        { concurrency: replacesKeys ? assetConcurrency : 1 }
      )
      return {
        deposit: deposit.toBase58(),
        taken: results.filter(([, reason]) => reason === null).map(([assetId]) => assetId),
        stayed: results.flatMap(([assetId, reason]) => (reason === null ? [] : [[assetId, reason] as const]))
      }
    })
  )
})
