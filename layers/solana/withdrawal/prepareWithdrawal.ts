/**
 * An owner's withdrawal as one transaction: the signature and its expiry are checked, then all assets leave
 * together, or none. The transaction is sent once for the withdrawal (lifecycle/executeAttempts.ts, with a
 * journal of the withdrawal's nonce). The chain does not check the owner's signature: the agent's key could move the
 * tokens without it.
 */
import { PublicKey, type TransactionInstruction } from "@solana/web3.js"
import { Clock, Effect, Option, Schema } from "effect"
import { addressOf, type AssetId, namespaceOf, spl } from "#domain/values/Caip.ts"
import { tokensOf, type WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { lastSigningMillis } from "#domain/withdrawal/requireNotExpired.ts"
import { withdrawalText } from "#domain/withdrawal/withdrawalText.ts"
import { addressesOf, type PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"
import type { WalletOwner } from "#layers/solana/enrollment/findWallet.ts"
import type { Step } from "#layers/solana/swig/Plan.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import { prepare, type PreparationError, type Prepared } from "#layers/solana/lifecycle/prepare.ts"
import type { FeePolicy } from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { solanaTerms } from "#layers/solana/solanaTerms.ts"
import { isSol } from "#layers/solana/token/nativeSol.ts"
import { associatedAccount } from "#layers/solana/token/programs.ts"
import { type Holding, readHoldings, type Remark } from "#layers/solana/token/readHoldings.ts"
import { isSignedByOwner } from "#layers/solana/withdrawal/isSignedByOwner.ts"
import { lamportsOf, transfersOf } from "#layers/solana/withdrawal/moves.ts"
import { recipientProblem } from "#layers/solana/withdrawal/recipientProblem.ts"

/** `kind`: which of the interface's codes it is. */
export class WithdrawalRefused extends Schema.TaggedError<WithdrawalRefused>()("WithdrawalRefused", {
  kind: Schema.Literals(["signature", "expired", "recipient", "duplicate", "balance", "untransferable"]),
  message: Schema.String
}) {}

/** Remarks on tokens that move all the same. */
const movable: ReadonlySet<Remark> = new Set(["PERMANENT_DELEGATE", "FROZEN", "SHARED"])

const refuse = (kind: WithdrawalRefused["kind"], message: string) => new WithdrawalRefused({ kind, message })

/** Nothing is signed. All assets are of Solana, each once. */
export const prepareWithdrawal = Effect.fn("solana.prepareWithdrawal")(function* ({
  agent,
  fees,
  tag,
  message,
  owner,
  place,
  signature,
  title
}: {
  readonly message: WithdrawalMessage
  readonly signature: string
  readonly owner: WalletOwner
  readonly place: PortfolioRole
  /** The first line of what was signed. */
  readonly title: string
  readonly agent: Pick<Agent, "key">
  /** Tag by which the transaction is found on the chain. */
  readonly tag?: PublicKey | undefined
  readonly fees: FeePolicy
}): Effect.fn.Return<Prepared, PreparationError | ChainUnavailable | WithdrawalRefused, SolanaRpc> {
  if (!(yield* isSignedByOwner(owner, withdrawalText(title, message), signature))) {
    return yield* refuse("signature", "The signature is not the owner's over the text that was issued")
  }
  if ((yield* Clock.currentTimeMillis) > lastSigningMillis(message, solanaTerms)) {
    return yield* refuse("expired", "The authorization expires before a transaction could land; request a new one")
  }
  const { deposit } = addressesOf(place)
  const recipient =
    namespaceOf(message.recipientAccountId) === "solana"
      ? new PublicKey(addressOf(message.recipientAccountId))
      : undefined
  if (recipient === undefined || recipient.equals(deposit)) {
    return yield* refuse("recipient", "Expected an account of Solana that is not the portfolio's own")
  }
  const problem = yield* recipientProblem(recipient)
  if (Option.isSome(problem)) return yield* refuse("recipient", `The recipient ${problem.value}`)
  const ids = tokensOf(message).map(({ assetId }) => assetId)
  if (new Set(ids).size !== ids.length) return yield* refuse("duplicate", "Each asset may be named once")

  const mints = ids.map((assetId) => new PublicKey(addressOf(assetId)))
  const { tokens } = yield* readHoldings(deposit, { mints })
  const opened: Array<Step> = []
  const inner: Array<TransactionInstruction> = []
  const paid: Array<TransactionInstruction> = []
  for (const { amountRaw, assetId } of tokensOf(message)) {
    const holding = find(tokens, assetId)
    const amount = BigInt(amountRaw)
    if (holding === undefined || holding.raw < amount || amount <= 0n) {
      return yield* refuse("balance", `${assetId}: ${amountRaw} is requested, ${holding?.raw ?? 0n} is held`)
    }
    const { mint, remarks, token } = holding
    const stuck = remarks.filter((remark) => !movable.has(remark))
    const isCoin = isSol(mint)
    const to = token === null || isCoin ? recipient : associatedAccount(recipient, mint, token.program)
    const moved = (isCoin ? lamportsOf : transfersOf)(holding, amount, { from: deposit, to })
    if (token === null || moved === undefined || stuck.length > 0) {
      const why = stuck.length > 0 ? stuck.join(", ") : "frozen by its issuer"
      return yield* refuse("untransferable", `${assetId} cannot be transferred now: ${why}`)
    }
    if (isCoin) {
      const short = yield* tooLittleFor(recipient, amount)
      if (short !== undefined) return yield* refuse("recipient", short)
      paid.push(...moved)
    } else {
      opened.push({ _tag: "MakeTokenAccount", owner: recipient, mint, tokenProgram: token.program })
      inner.push(...moved)
    }
  }
  const { roleId, walletId: id } = place
  // Lamports leave by a step of their own: the package gives more accounts to whatever is packed behind them.
  const acts = [inner, paid]
    .filter(({ length }) => length > 0)
    .map((list): Step => ({ _tag: "ActForSubAccount", id, roleId, inner: list }))
  return yield* prepare({ agent: agent.key, steps: [...opened, ...acts], tag, fees })
})

/** Why an account cannot receive so few lamports: the chain lets none have less than its rent. */
const tooLittleFor = Effect.fnUntraced(function* (recipient: PublicKey, amount: bigint) {
  const rpc = yield* SolanaRpc
  const [{ values }, rent] = yield* Effect.all([rpc.accounts([recipient]), rpc.minimumRent(0)], {
    concurrency: "unbounded"
  })
  const held = Option.match(values[0]!, { onNone: () => 0n, onSome: ({ lamports }) => lamports })
  if (held + amount >= rent) return undefined
  return `The recipient would have ${held + amount} lamports, and no account on Solana may have fewer than ${rent}`
})

const find = (tokens: ReadonlyArray<Holding>, assetId: AssetId): Holding | undefined =>
  tokens.find(({ mint }) => spl(mint.toBase58()) === assetId)
