/**
 * Withdrawals of all families of chains: those from Solana are checked and prepared here, others are handed on. On
 * Solana the chain does not check what the owner signed, so the service checks what an executor does on EVM chains: the
 * signature, the expiry, and that it is carried out once (the operation's journal of parts, and the
 * tag of the nonce on the chain).
 */
import { sha256 } from "@noble/hashes/sha2"
import { PublicKey } from "@solana/web3.js"
import { Clock, Effect, Layer, Option } from "effect"
import { bytesToHex, stringToBytes } from "viem"
import { tokensOf } from "#domain/account/WithdrawalMessage.ts"
import { addressOf, chainIdOf, namespaceOf, solanaChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { VerifierUnavailable } from "#domain/errors/Errors.ts"
import type { PreparedParts } from "#domain/relay/Transaction.ts"
import { SimulationFailed } from "#domain/trading/SwapBatches.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"
import { lastSigningMillis } from "#domain/withdrawal/requireNotExpired.ts"
import { type WithdrawalStatus, WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { withdrawalText } from "#domain/withdrawal/withdrawalText.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"
import { roleIn } from "#layers/solana/swig/PortfolioRole.ts"
import { taggedReceipt } from "#layers/solana/execution/taggedReceipt.ts"
import { tokenAccountBytes } from "#layers/solana/execution/prepareSwaps.ts"
import { encodeStep } from "#layers/solana/execution/SolanaStep.ts"
import { tagOfWithdrawal } from "#layers/solana/execution/transactionTag.ts"
import { type LossUnsettled, UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"
import { signatureLamports } from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { solanaTerms } from "#layers/solana/solanaTerms.ts"
import { weiOfLamport } from "#layers/solana/SolanaFunds.ts"
import { isSignedByOwner, walletOwner } from "#layers/solana/withdrawal/isSignedByOwner.ts"
import { prepareWithdrawal } from "#layers/solana/withdrawal/prepareWithdrawal.ts"
import { recipientProblem } from "#layers/solana/withdrawal/recipientProblem.ts"

const isHere = ({ accountId }: Pick<AuthorizedWithdrawal, "accountId">): boolean => namespaceOf(accountId) === "solana"

const refuse = (reason: string) => new SimulationFailed({ chainId: solanaChainId, reason })

/**
 * The run calls again only while none of its transactions can land, so what it has not yet done is not done, unless the
 * chain shows a transaction that has no record.
 */
const standing = Effect.fnUntraced(
  function* ({
    accountId,
    message
  }: StoredWithdrawal): Effect.fn.Return<WithdrawalStatus, ChainUnavailable | LossUnsettled, UnrecordedTransactions> {
    const tag = tagOfWithdrawal(message)
    const unrecorded = yield* UnrecordedTransactions
    const receipt = taggedReceipt(tag, yield* unrecorded.find(tag, new PublicKey(addressOf(accountId))))
    if (receipt !== undefined) return { _tag: "Landed", receipt }
    return (yield* Clock.currentTimeMillis) > lastSigningMillis(message, solanaTerms)
      ? { _tag: "Closed", reason: "the authorization expires before a transaction could land" }
      : { _tag: "Open" }
  },
  Effect.catchTag("LossUnsettled", ({ message }) => new ChainUnavailable({ chainId: solanaChainId, reason: message }))
)

const prepare = Effect.fnUntraced(function* ({
  accountId,
  acceptedAtBlock,
  grant,
  message,
  signature
}: StoredWithdrawal) {
  const { agent, fees } = yield* (yield* SolanaAgent).signing
  const { ownerAccountId: owner, withdrawalDomainName: title } = grant.authorization
  const place = Option.getOrUndefined(roleIn(grant))
  if (place === undefined || title === null) return yield* refuse("the owner enrolled no wallet on Solana")
  yield* prepareWithdrawal({
    agent,
    fees,
    tag: tagOfWithdrawal(message).address,
    message,
    owner: walletOwner(owner),
    place,
    signature,
    title
  }).pipe(
    Effect.catchTags({
      SimulationFailed: ({ message: reason }) => refuse(reason),
      TransactionDoesNotFit: ({ message: reason }) => refuse(reason),
      WithdrawalRefused: ({ message: reason }) => refuse(reason)
    })
  )
  const rent = yield* (yield* SolanaRpc).minimumRent(tokenAccountBytes)
  const step = encodeStep({ _tag: "Withdraw", place, owner, title, message, signature })
  const steps: PreparedParts = {
    _tag: "Solana",
    chainId: chainIdOf(accountId),
    accountId,
    actionHash: bytesToHex(sha256(stringToBytes(step))),
    parts: [step],
    // The account's own, where SOL is wrapped, besides those of the recipient.
    maxLamports: signatureLamports + fees.maxPriorityLamports + BigInt(message.assets.length + 1) * rent,
    lamportNative: weiOfLamport,
    slot: acceptedAtBlock
  }
  return steps
})

const execution = Layer.effect(
  WithdrawalTransactions,
  Effect.gen(function* () {
    const others = yield* WithdrawalTransactions
    const context = yield* Effect.context<SolanaAgent | SolanaRpc | UnrecordedTransactions>()
    return WithdrawalTransactions.of({
      ...others,
      standing: (withdrawal) =>
        isHere(withdrawal) ? Effect.provideContext(standing(withdrawal), context) : others.standing(withdrawal),
      prepare: (withdrawal) =>
        isHere(withdrawal) ? Effect.provideContext(prepare(withdrawal), context) : others.prepare(withdrawal),
      delivered: (withdrawal, receipt) =>
        isHere(withdrawal)
          ? Effect.succeed(
              tokensOf(withdrawal.message).map(({ amountRaw, assetId }) => ({ assetId, raw: BigInt(amountRaw) }))
            )
          : others.delivered(withdrawal, receipt)
    })
  })
)

const unavailable = (withdrawn: string) =>
  new VerifierUnavailable({
    message: `On chain ${solanaChainId} ${withdrawn} cannot be read now; nothing was stored, send the same request again`
  })

const verifier = Layer.effect(
  WithdrawalVerifier,
  Effect.gen(function* () {
    const others = yield* WithdrawalVerifier
    const rpc = yield* SolanaRpc
    return WithdrawalVerifier.of({
      isSignedByOwner: (withdrawal) => {
        if (!isHere(withdrawal)) return others.isSignedByOwner(withdrawal)
        const { ownerAccountId, withdrawalDomainName } = withdrawal.grant.authorization
        if (withdrawalDomainName === null) return Effect.succeed(false)
        const text = withdrawalText(withdrawalDomainName, withdrawal.message)
        return isSignedByOwner(walletOwner(ownerAccountId), text, withdrawal.signature)
      },
      recipientProblem: (recipient) =>
        chainIdOf(recipient) === solanaChainId
          ? recipientProblem(new PublicKey(addressOf(recipient))).pipe(
              Effect.provideService(SolanaRpc, rpc),
              Effect.tapError((error) => Effect.logWarning("A recipient cannot be read", error)),
              Effect.mapError(() => unavailable("the recipient"))
            )
          : others.recipientProblem(recipient),
      nativeNonce: others.nativeNonce,
      nativeDigest: (withdrawal) => (isHere(withdrawal) ? Option.none() : others.nativeDigest(withdrawal)),
      selfSubmission: (withdrawal) => (isHere(withdrawal) ? Option.none() : others.selfSubmission(withdrawal))
    })
  })
)

/** WithdrawalTransactions and WithdrawalVerifier of all families, over those of the others. */
export const SolanaWithdrawalsLive = Layer.merge(execution, verifier)
