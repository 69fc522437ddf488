/**
 * An owner's withdrawal as one transaction: the signature and its expiry are checked, then all assets leave
 * together, or none. The transaction is sent once for the withdrawal (layers/solana/lifecycle/carryOut.ts, with a
 * journal of the withdrawal's nonce). The chain does not know the owner's word: the agent's key could move the
 * tokens without it.
 */
import { createTransferCheckedInstruction } from "@solana/spl-token"
import { type PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js"
import { Clock, Effect, Option, Schema } from "effect"
import { type SplAssetId, spl } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { addressesOf, type WalletPlace } from "#layers/solana/enrollment/Flow.ts"
import type { WalletOwner } from "#layers/solana/enrollment/findWallet.ts"
import type { Step } from "#layers/solana/guard/Plan.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import { prepare, type PreparationError, type Prepared } from "#layers/solana/lifecycle/prepare.ts"
import type { FeePolicy } from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { associatedAccount } from "#layers/solana/token/programs.ts"
import { type Holding, readHoldings } from "#layers/solana/token/readHoldings.ts"
import {
  addressIn,
  type SolanaWithdrawal,
  verifyWithdrawal,
  WithdrawalSignatureRefused,
  withdrawalText
} from "#layers/solana/withdrawal/withdrawalText.ts"

/** `kind`: which of the interface's codes it is. */
export class WithdrawalRefused extends Schema.TaggedError<WithdrawalRefused>()("WithdrawalRefused", {
  kind: Schema.Literals(["expired", "recipient", "duplicate", "balance", "untransferable"]),
  message: Schema.String
}) {}

const refuse = (kind: WithdrawalRefused["kind"], message: string) => new WithdrawalRefused({ kind, message })

/** Transfers of an amount out of the accounts of a mint, the fullest first; undefined where they have less. */
const transfersOf = (
  { accounts, token }: Holding,
  amountRaw: bigint,
  recipient: PublicKey
): ReadonlyArray<TransactionInstruction> | undefined => {
  if (token === null) return undefined
  const transfers: Array<TransactionInstruction> = []
  let left = amountRaw
  for (const { amountRaw: held, isFrozen, key, owner } of accounts) {
    if (left === 0n) break
    const part = held < left ? held : left
    if (isFrozen || part === 0n) continue
    transfers.push(
      createTransferCheckedInstruction(key, token.mint, recipient, owner, part, token.decimals, [], token.program)
    )
    left -= part
  }
  return left === 0n ? transfers : undefined
}

/** Whether a program keeps the account, as token accounts are: tokens of such an owner could be lost. */
const isForeign = Effect.fnUntraced(function* (recipient: PublicKey) {
  const rpc = yield* SolanaRpc
  const { values } = yield* rpc.accounts([recipient])
  return Option.exists(values[0]!, ({ owner }) => !owner.equals(SystemProgram.programId))
})

/** Nothing is signed. All assets are of Solana, each once. */
export const prepareWithdrawal = Effect.fn("solana.prepareWithdrawal")(function* ({
  agent,
  brand,
  fees,
  message,
  owner,
  place,
  signature
}: {
  readonly message: SolanaWithdrawal
  readonly signature: string
  readonly owner: WalletOwner
  readonly place: WalletPlace
  readonly brand: string
  readonly agent: Pick<Agent, "key">
  readonly fees: FeePolicy
}): Effect.fn.Return<
  Prepared,
  PreparationError | ChainUnavailable | WithdrawalSignatureRefused | WithdrawalRefused,
  SolanaRpc
> {
  const text = withdrawalText(brand, message)
  if (text === undefined) {
    return yield* new WithdrawalSignatureRefused({ message: "The message is not one that was issued" })
  }
  yield* Effect.fromResult(yield* Effect.promise(() => verifyWithdrawal(owner, text, signature)))
  if ((yield* Clock.currentTimeMillis) >= message.expiresAt * 1_000) {
    return yield* refuse("expired", "The authorization has expired; request a new one")
  }
  const { deposit } = addressesOf(place)
  const recipient = addressIn(message.recipientAccountId)
  if (recipient === undefined || recipient.equals(deposit)) {
    return yield* refuse("recipient", "Expected an account of Solana that is not the portfolio's own")
  }
  if (yield* isForeign(recipient)) {
    return yield* refuse("recipient", "The recipient is an account of a program and not a wallet; name its owner")
  }
  const ids = message.assets.map(({ assetId }) => assetId)
  if (new Set(ids).size !== ids.length) return yield* refuse("duplicate", "Each asset may be named once")

  const { tokens } = yield* readHoldings(deposit)
  const steps: Array<Step> = []
  const inner: Array<TransactionInstruction> = []
  for (const { amountRaw, assetId } of message.assets) {
    const holding = find(tokens, assetId)
    const amount = BigInt(amountRaw)
    if (holding === undefined || holding.raw < amount || amount <= 0n) {
      return yield* refuse("balance", `${assetId}: ${amountRaw} is asked for, ${holding?.raw ?? 0n} is held`)
    }
    const { mint, remarks, token } = holding
    const stuck = remarks.filter((remark) => remark !== "PERMANENT_DELEGATE" && remark !== "FROZEN")
    const to = token === null ? undefined : associatedAccount(recipient, mint, token.program)
    const transfers = to === undefined ? undefined : transfersOf(holding, amount, to)
    if (token === null || transfers === undefined || stuck.length > 0) {
      const why = stuck.length > 0 ? stuck.join(", ") : "frozen by its issuer"
      return yield* refuse("untransferable", `${assetId} cannot be transferred now: ${why}`)
    }
    steps.push({ _tag: "MakeTokenAccount", owner: recipient, mint, tokenProgram: token.program })
    inner.push(...transfers)
  }
  const { roleId, walletId: id } = place
  return yield* prepare({
    agent: agent.key,
    steps: [...steps, { _tag: "ActForSubAccount", id, roleId, inner }],
    fees
  })
})

const find = (tokens: ReadonlyArray<Holding>, assetId: SplAssetId): Holding | undefined =>
  tokens.find(({ mint }) => spl(mint.toBase58()) === assetId)
