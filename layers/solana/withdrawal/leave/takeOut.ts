/** All of one asset out of a portfolio, by the holder of its role, or by the root where no other key gets the role. */
import { createAssociatedTokenAccountIdempotentInstruction } from "@solana/spl-token"
import type { TransactionInstruction } from "@solana/web3.js"
import { Effect, Schema } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OutcomeUnknown, SimulationFailed } from "#layers/solana/lifecycle/errors.ts"
import type { FeePolicy } from "#layers/solana/lifecycle/priorityFee.ts"
import type { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { buildStep } from "#layers/solana/swig/buildTransaction.ts"
import { addressesOf, type PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"
import type { Mint } from "#layers/solana/token/Mint.ts"
import { isSol } from "#layers/solana/token/nativeSol.ts"
import { associatedAccount } from "#layers/solana/token/programs.ts"
import type { Holding } from "#layers/solana/token/readHoldings.ts"
import { withHookAccounts } from "#layers/solana/token/transferHook.ts"
import type { OwnerKey, SignatureTerms } from "#layers/solana/withdrawal/leave/OwnerKey.ts"
import { rootWithdrawal } from "#layers/solana/withdrawal/leave/rootWithdrawal.ts"
import { sendAsOwner } from "#layers/solana/withdrawal/leave/sendAsOwner.ts"
import { lamportsOf, transfersOf } from "#layers/solana/withdrawal/moves.ts"

/** Nothing was sent for it; the message says what to do. */
export class CannotLeave extends Schema.TaggedError<CannotLeave>()("CannotLeave", { message: Schema.String }) {}

export interface Leaver {
  readonly owner: OwnerKey
  readonly fees: FeePolicy
}

/** What of a wallet is taken out. */
interface HeldThere {
  readonly place: PortfolioRole
  readonly holding: Holding
}

type Failure = CannotLeave | SimulationFailed | OutcomeUnknown | ChainUnavailable

/** The mint and the amount of what can leave now. */
const movable = Effect.fnUntraced(function* (
  { accounts, mint, movableRaw, remarks, token }: Holding,
  place: PortfolioRole
) {
  if (token === null) return yield* new CannotLeave({ message: "its mint cannot be read" })
  const { deposit } = addressesOf(place)
  if (!isSol(mint) && !accounts.some(({ key }) => key.equals(associatedAccount(deposit, mint, token.program)))) {
    return yield* new CannotLeave({ message: "it is in no associated account, as strangers give tokens" })
  }
  if (movableRaw === 0n) return yield* new CannotLeave({ message: remarks.join(", ") })
  return { token, amountRaw: movableRaw }
})

/** Opened by itself where its issuer must thaw it before it can receive anything. */
const openAccount = ({ owner: { key } }: Leaver, { mint, program }: Mint): TransactionInstruction =>
  createAssociatedTokenAccountIdempotentInstruction(
    key.publicKey,
    associatedAccount(key.publicKey, mint, program),
    key.publicKey,
    mint,
    program
  )

/** Takes an asset out by the owner's Solana key, which holds the role. */
export const takeOutByRole = Effect.fnUntraced(function* (
  leaver: Leaver,
  { holding, place }: HeldThere
): Effect.fn.Return<void, Failure, SolanaRpc> {
  const { amountRaw, token } = yield* movable(holding, place)
  const { deposit: from } = addressesOf(place)
  const { fees, owner } = leaver
  const { mint, program, startsFrozen } = token
  const receiver = owner.key.publicKey
  const isCoin = isSol(mint)
  const to = isCoin ? receiver : associatedAccount(receiver, mint, program)
  const moves = (isCoin ? lamportsOf : transfersOf)(holding, amountRaw, { from, to }) ?? []
  const inner = yield* Effect.forEach(moves, (move) =>
    isCoin
      ? Effect.succeed(move)
      : withHookAccounts(move, {
          token,
          source: move.keys[0]!.pubkey,
          destination: to,
          owner: from,
          amount: move.data.readBigUInt64LE(1)
        })
  )
  const open = openAccount(leaver, token)
  if (startsFrozen) yield* sendAsOwner({ fees, key: owner.key }, [open])
  const step = { _tag: "ActForSubAccount", id: place.walletId, roleId: place.roleId, inner } as const
  const act = yield* Effect.promise(() => buildStep(receiver, step))
  const sending = sendAsOwner({ fees, key: owner.key }, isCoin ? [act] : [open, act])
  return yield* startsFrozen
    ? Effect.catchTag(sending, "SimulationFailed", ({ message }) =>
        Effect.fail(
          new CannotLeave({
            message: `its issuer thaws accounts one by one; ask it to thaw ${to.toBase58()}, then leave again (${message})`
          })
        )
      )
    : sending
})

/** Takes an asset out by the wallet's root, tokens and lamports apart. `terms`: of an EVM root's next signature. */
export const takeOutByRoot = Effect.fnUntraced(function* (
  leaver: Leaver,
  { holding, place }: HeldThere,
  terms: Effect.Effect<SignatureTerms, CannotLeave | ChainUnavailable, SolanaRpc>
): Effect.fn.Return<void, Failure, SolanaRpc> {
  const { token } = yield* movable(holding, place)
  const { fees, owner } = leaver
  const account = associatedAccount(addressesOf(place).deposit, token.mint, token.program)
  const tokensRaw = holding.accounts.find(({ isFrozen, key }) => key.equals(account) && !isFrozen)?.amountRaw ?? 0n
  const parts = [
    { place, token, tokensRaw, lamports: 0n },
    { place, token, tokensRaw: 0n, lamports: holding.lamports }
  ].filter(({ lamports, tokensRaw }) => lamports + tokensRaw > 0n)
  for (const part of parts) {
    const next = yield* terms
    const instructions = yield* Effect.promise(() => rootWithdrawal(owner, part, next))
    yield* Effect.catchTag(sendAsOwner({ fees, key: owner.key }, instructions), "SimulationFailed", ({ message }) =>
      Effect.fail(
        new CannotLeave({
          message: `the deployed program's own withdrawal does not move it: it names no mint (${message})`
        })
      )
    )
  }
})
