/**
 * The owner's way out of a wallet without the service: the owner's key is put into each agent's role, and then signs
 * for the sub-accounts itself. It needs a node and the owner's Solana key, which pays. What the chain refuses is named
 * and left, and the whole may be started again at any time.
 */
import { createAssociatedTokenAccountIdempotentInstruction } from "@solana/spl-token"
import {
  ComputeBudgetProgram,
  type Keypair,
  type PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction
} from "@solana/web3.js"
import { Duration, Effect, Schema } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { stateIn } from "#layers/solana/enrollment/findWallet.ts"
import { attemptOf } from "#layers/solana/lifecycle/Attempt.ts"
import { SimulationFailed, type OutcomeUnknown } from "#layers/solana/lifecycle/errors.ts"
import { awaitOutcome } from "#layers/solana/lifecycle/executeAttempts.ts"
import {
  type FeePolicy,
  unitLimitFor,
  unitPriceFor,
  unitsOfATransaction
} from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { buildStep } from "#layers/solana/swig/buildTransaction.ts"
import { addressesOf, type PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"
import { swigProgram } from "#layers/solana/swig/addresses.ts"
import { isSol } from "#layers/solana/token/nativeSol.ts"
import { associatedAccount } from "#layers/solana/token/programs.ts"
import { type Holding, readHoldings } from "#layers/solana/token/readHoldings.ts"
import { lamportsOf, transfersOf } from "#layers/solana/withdrawal/moves.ts"

/** Nothing was sent for it; the message says what to do. */
class CannotLeave extends Schema.TaggedError<CannotLeave>()("CannotLeave", { message: Schema.String }) {}

export interface Leaving {
  /** `walletAccountId` of enrollment. */
  readonly wallet: PublicKey
  readonly owner: Keypair
  readonly fees: FeePolicy
}

/** What became of one portfolio's holdings. */
export interface Left {
  readonly deposit: string
  readonly taken: ReadonlyArray<string>
  /** Assets that stayed, each with the reason. */
  readonly stayed: ReadonlyArray<readonly [assetId: string, reason: string]>
}

const timing = {
  commitment: "finalized",
  resendEvery: Duration.seconds(2),
  waitAtMost: Duration.minutes(3)
} as const

const replaceAuthorityV1 = 16
const root = 0

/** Another ed25519 key for a role, which keeps its permissions. Source: the program's `replace_authority_v1.rs`. */
export const replaceAuthority = (
  wallet: PublicKey,
  { holder, key, role }: { readonly role: number; readonly holder: PublicKey; readonly key: PublicKey },
  actingRole = root
): TransactionInstruction => {
  const head = Buffer.alloc(16)
  head.writeUInt16LE(replaceAuthorityV1, 0)
  head.writeUInt32LE(actingRole, 4)
  head.writeUInt32LE(role, 8)
  head.writeUInt16LE(32, 12)
  return new TransactionInstruction({
    programId: swigProgram,
    keys: [
      { pubkey: wallet, isSigner: false, isWritable: true },
      { pubkey: holder, isSigner: true, isWritable: false }
    ],
    data: Buffer.concat([head, key.toBytes(), Uint8Array.of(1)])
  })
}

/** One transaction that the owner signs and pays, until it is final. What would fail is not signed. */
const execute = Effect.fnUntraced(function* (
  { fees, owner }: Leaving,
  instructions: ReadonlyArray<TransactionInstruction>
): Effect.fn.Return<void, ChainUnavailable | SimulationFailed | OutcomeUnknown, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const { blockhash, lastValidBlockHeight } = yield* rpc.latestBlockhash
  const compiled = (units: number, microLamports: bigint) =>
    new TransactionMessage({
      payerKey: owner.publicKey,
      recentBlockhash: blockhash,
      instructions: [
        ComputeBudgetProgram.setComputeUnitLimit({ units }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
        ...instructions
      ]
    }).compileToV0Message()
  const draft = compiled(unitsOfATransaction, 0n)
  const written = draft.staticAccountKeys.filter((_, index) => draft.isAccountWritable(index))
  const [simulated, prices] = yield* Effect.all([
    rpc.simulate(new VersionedTransaction(draft).serialize()),
    rpc.recentFees(written)
  ])
  if (simulated.error !== null) return yield* new SimulationFailed({ error: simulated.error, logs: simulated.logs })
  const units = unitLimitFor(simulated.units)
  const transaction = new VersionedTransaction(compiled(units, unitPriceFor(prices, units, fees)))
  transaction.sign([owner])
  const attempt = attemptOf(transaction.message.serialize(), transaction.signatures, lastValidBlockHeight)
  const outcome = yield* awaitOutcome(attempt, timing)
  if (outcome._tag === "Landed") return undefined
  return yield* new SimulationFailed({ error: outcome._tag === "Failed" ? outcome.error : outcome._tag, logs: [] })
})

/** All of one asset, to the owner. */
const takeOut = Effect.fnUntraced(function* (leaving: Leaving, place: PortfolioRole, holding: Holding) {
  const { owner } = leaving
  const { deposit: from } = addressesOf(place)
  const { accounts, mint, movableRaw, token } = holding
  if (token === null) return yield* new CannotLeave({ message: "its mint cannot be read" })
  if (!isSol(mint) && !accounts.some(({ key }) => key.equals(associatedAccount(from, mint, token.program)))) {
    return yield* new CannotLeave({ message: "it is in no associated account, as strangers give tokens" })
  }
  if (movableRaw === 0n) return yield* new CannotLeave({ message: holding.remarks.join(", ") })
  const isCoin = isSol(mint)
  const to = isCoin ? owner.publicKey : associatedAccount(owner.publicKey, mint, token.program)
  const inner = (isCoin ? lamportsOf : transfersOf)(holding, movableRaw, { from, to }) ?? []
  const open = createAssociatedTokenAccountIdempotentInstruction(
    owner.publicKey,
    to,
    owner.publicKey,
    mint,
    token.program
  )
  const step = { _tag: "ActForSubAccount", id: place.walletId, roleId: place.roleId, inner } as const
  const act = yield* Effect.promise(() => buildStep(owner.publicKey, step))
  yield* execute(leaving, isCoin ? [act] : [open, act])
})

/** Everything out of every portfolio of the wallet. */
export const leave = Effect.fn("solana.leave")(function* (
  leaving: Leaving
): Effect.fn.Return<ReadonlyArray<Left>, ChainUnavailable | CannotLeave | OutcomeUnknown, SolanaRpc> {
  const { owner, wallet } = leaving
  const { values } = yield* (yield* SolanaRpc).accounts([wallet])
  const state = stateIn(values[0]!)
  if (state === null || state === undefined) {
    return yield* new CannotLeave({ message: `${wallet.toBase58()} is no Swig wallet; name walletAccountId` })
  }
  const roles = state.roles.filter(({ actions }) => actions.some(({ _tag }) => _tag === "SubAccount"))
  return yield* Effect.forEach(roles, ({ holder, id }) =>
    Effect.gen(function* () {
      const place = { walletId: state.id, roleId: id }
      const { deposit } = addressesOf(place)
      if (holder._tag !== "Ed25519" || !holder.key.equals(owner.publicKey)) {
        const replace = replaceAuthority(wallet, { role: id, holder: owner.publicKey, key: owner.publicKey })
        yield* execute(leaving, [replace]).pipe(
          Effect.catchTag("SimulationFailed", ({ message }) =>
            Effect.fail(
              new CannotLeave({
                message:
                  `The owner's key cannot be put into role ${id}: ${message}. The wallet's root is another key, or the ` +
                  "program is one of before August 2026; docs/solana.md has the way out by its own withdrawal"
              })
            )
          )
        )
      }
      const { tokens } = yield* readHoldings(deposit)
      const results = yield* Effect.forEach(
        tokens.filter(({ raw }) => raw > 0n),
        (holding) =>
          takeOut(leaving, place, holding).pipe(
            Effect.match({
              onSuccess: () => [holding.assetId, null] as const,
              onFailure: (error) =>
                [holding.assetId, error._tag === "ChainUnavailable" ? error.reason : error.message] as const
            })
          )
      )
      return {
        deposit: deposit.toBase58(),
        taken: results.filter(([, reason]) => reason === null).map(([assetId]) => assetId),
        stayed: results.flatMap(([assetId, reason]) => (reason === null ? [] : [[assetId, reason] as const]))
      }
    })
  )
})
