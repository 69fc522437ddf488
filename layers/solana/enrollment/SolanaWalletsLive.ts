/**
 * Sub-accounts of portfolios in owners' wallets: both owner models behind the domain's port, with the agent of the
 * deployment. What the domain stores for stage 2, and of a signed transaction, is written and read here.
 */
import { PublicKey } from "@solana/web3.js"
import { sha256 } from "@noble/hashes/sha2"
import { bytesToHex } from "@noble/hashes/utils"
import { Context, Duration, Effect, Layer, Schema } from "effect"
import {
  addressOf,
  type EvmAddress,
  namespaceOf,
  solanaAccount,
  solanaChainId,
  type SolanaWalletId,
  type WalletId
} from "#domain/values/Caip.ts"
import { type Authorization, PermissionId } from "#domain/account/Authorization.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import {
  type IssuedSubAccount,
  type SubAccountOutcome,
  type SubAccountRequest,
  type RecordedSubAccount,
  SignedSubAccount,
  SolanaWallets
} from "#domain/account/SolanaWallets.ts"
import { ValidationFailed, VerifierUnavailable } from "#domain/errors/Errors.ts"
import { BrandName } from "#domain/values/BrandName.ts"
import type { EnrollmentExpired, EnrollmentOvertaken, OwnerSignatureRefused } from "#layers/solana/enrollment/errors.ts"
import { acceptFromEvmOwner, issueForEvmOwner } from "#layers/solana/enrollment/evmOwner.ts"
import { WalletSubAccount } from "#layers/solana/enrollment/Flow.ts"
import { addressesOf } from "#layers/solana/swig/PortfolioRole.ts"
import { acceptFromSolanaOwner, issueForSolanaOwner, SolanaFlow } from "#layers/solana/enrollment/solanaOwner.ts"
import type { BytesRefused } from "#layers/solana/guard/BytesRefused.ts"
import { Attempt } from "#layers/solana/lifecycle/Attempt.ts"
import { awaitOutcome } from "#layers/solana/lifecycle/executeAttempts.ts"
import type { SimulationFailed, TransactionDoesNotFit } from "#layers/solana/lifecycle/errors.ts"
import { observe } from "#layers/solana/lifecycle/observe.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"

/** How long a call of stage 2 waits for the chain; its claim on the flow lasts longer. */
export const LandWithin = Context.Reference("ballast/layers/solana/LandWithin", {
  defaultValue: () => Duration.seconds(15)
})

const resendEvery = Duration.seconds(1)

const Plan = Schema.Union([
  Schema.TaggedStruct("SolanaOwner", { flow: SolanaFlow }),
  Schema.TaggedStruct("EvmOwner", { flow: WalletSubAccount })
])
const planText = Schema.fromJsonString(Schema.toCodecJson(Plan))
const encodePlan = Schema.encodeSync(planText)
const decodePlan = Schema.decodeEffect(planText)

const signedText = Schema.fromJsonString(Schema.toCodecJson(Attempt))
const encodeSigned = Schema.encodeSync(signedText)
const decodeSigned = Schema.decodeEffect(signedText)

const unavailable = ({ reason }: ChainUnavailable) =>
  new VerifierUnavailable({
    message: `Solana could not be read: ${reason}. Nothing is lost; send the same again in some seconds`
  })

const refusedBy = (field: string) => (error: { readonly message: string }) =>
  new ValidationFailed({ message: error.message, details: [`${field}: ${error.message}`] })

/** What the chain would not take, and what was not built as planned: the owner can do nothing but start again. */
const notMade = refusedBy("flowId")

type Refusal =
  | ChainUnavailable
  | EnrollmentExpired
  | EnrollmentOvertaken
  | OwnerSignatureRefused
  | SimulationFailed
  | TransactionDoesNotFit
  | BytesRefused

const toWire = (error: Refusal): ValidationFailed | VerifierUnavailable => {
  switch (error._tag) {
    case "ChainUnavailable":
      return unavailable(error)
    case "OwnerSignatureRefused":
      return refusedBy(error.field)(error)
    case "EnrollmentExpired":
    case "EnrollmentOvertaken":
    case "SimulationFailed":
    case "TransactionDoesNotFit":
    case "BytesRefused":
      return notMade(error)
  }
}

const hash = (bytes: Uint8Array) => `0x${bytesToHex(sha256(bytes))}`

/** What the owner signs: the agent's role in the wallet, which is for one sub-account. */
const authorizationOf = (
  { ownerAccountId, withdrawalDomainName }: SubAccountRequest,
  subAccount: WalletSubAccount,
  { agent, signed }: { readonly agent: PublicKey; readonly signed: Uint8Array }
): Authorization => {
  const digest = hash(signed)
  const { roleId, walletId } = subAccount
  return {
    _tag: "Solana",
    accountType: "ECDSA",
    ownerAccountId,
    accountIndex: 0n,
    withdrawalDomainName,
    agentAccountId: solanaAccount(agent.toBase58()) as string as SolanaWalletId,
    chains: [
      {
        chainId: solanaChainId,
        accountId: solanaAccount(addressesOf(subAccount).deposit.toBase58()),
        permissionId: PermissionId.make(`0x${roleId.toString(16).padStart(8, "0")}`),
        policy: { _tag: "Solana", walletId: `0x${bytesToHex(walletId)}`, roleId },
        digest
      }
    ],
    root: digest
  }
}

const keyOf = (owner: WalletId) => new PublicKey(addressOf(owner))

export const SolanaWalletsLive = Layer.effect(
  SolanaWallets,
  Effect.gen(function* () {
    const brand = yield* BrandName
    const { signing } = yield* SolanaAgent
    const rpc = yield* SolanaRpc
    const waitAtMost = yield* LandWithin
    const onChain = Effect.provideService(SolanaRpc, rpc)

    const issueTransaction = Effect.fnUntraced(function* (request: SubAccountRequest) {
      const { agent, fees } = yield* signing
      const { ownerAccountId, tenantId } = request
      const owner = keyOf(ownerAccountId)
      const issued = yield* issueForSolanaOwner({ tenantId, owner, agent: agent.key, brand, fees })
      const { flow, text, transaction } = issued
      const subAccount: IssuedSubAccount = {
        message: { kind: "solana-message", text },
        walletAccountId: solanaAccount(addressesOf(flow).wallet.toBase58()),
        isReused: flow.isReused,
        odometer: null,
        transaction,
        plan: encodePlan({ _tag: "SolanaOwner", flow })
      }
      return { authorization: authorizationOf(request, flow, { agent: agent.key, signed: flow.message }), subAccount }
    })

    const issueText = Effect.fnUntraced(function* (request: SubAccountRequest) {
      const { agent } = yield* signing
      const owner = addressOf(request.ownerAccountId) as EvmAddress
      const { flow, raw } = yield* issueForEvmOwner({ tenantId: request.tenantId, owner, agent: agent.key })
      const subAccount: IssuedSubAccount = {
        message: { kind: "ecdsa", raw },
        walletAccountId: solanaAccount(addressesOf(flow).wallet.toBase58()),
        isReused: flow.isReused,
        odometer: flow.odometer,
        transaction: null,
        plan: encodePlan({ _tag: "EvmOwner", flow })
      }
      return {
        authorization: authorizationOf(request, flow, { agent: agent.key, signed: new TextEncoder().encode(raw) }),
        subAccount
      }
    })

    const issue: SolanaWallets["Service"]["issue"] = Effect.fn("SolanaWallets.issue")((request: SubAccountRequest) =>
      (namespaceOf(request.ownerAccountId) === "solana" ? issueTransaction(request) : issueText(request)).pipe(
        onChain,
        Effect.mapError((error) =>
          error._tag === "WalletsExhausted" ? refusedBy("ownerAccountId")(error) : toWire(error)
        )
      )
    )

    const sign: SolanaWallets["Service"]["sign"] = Effect.fn("SolanaWallets.sign")(function* (
      { agentAccountId, ownerAccountId },
      subAccount,
      consent
    ) {
      const { agent, fees } = yield* Effect.mapError(signing, unavailable)
      if (addressOf(agentAccountId) !== agent.key.toBase58()) {
        return yield* new ValidationFailed({
          message: "The service signs as another agent since stage 1; start again at /v2/enroll/signature",
          details: ["agentAccountId: is not the agent any more"]
        })
      }
      const plan = yield* Effect.orDie(decodePlan(subAccount.plan))
      const accepting =
        plan._tag === "SolanaOwner" && consent._tag === "SignedTransaction"
          ? acceptFromSolanaOwner({
              flow: plan.flow,
              owner: keyOf(ownerAccountId),
              agent,
              fees,
              signedTransaction: consent.transaction
            })
          : plan._tag === "EvmOwner" && consent._tag === "SlotSignature"
            ? acceptFromEvmOwner({
                flow: plan.flow,
                owner: addressOf(ownerAccountId) as EvmAddress,
                agent,
                word: consent,
                fees
              })
            : undefined
      if (accepting === undefined) {
        return yield* new ValidationFailed({
          message: "The owner's signature is not of the kind that stage 1 required",
          details:
            plan._tag === "SolanaOwner"
              ? ["signedSolanaTransaction: required of this owner"]
              : ["userSecp256k1PublicKey: required of this owner, with signature and currentSlot"]
        })
      }
      return SignedSubAccount.make(encodeSigned(yield* Effect.mapError(accepting, toWire)))
    }, onChain)

    const toOutcome = (outcome: {
      readonly _tag: SubAccountOutcome["_tag"]
      readonly error?: unknown
    }): SubAccountOutcome =>
      outcome._tag === "Failed" ? { _tag: "Failed", reason: JSON.stringify(outcome.error) } : { _tag: outcome._tag }

    const outcome = Effect.fn("SolanaWallets.outcome")(function* (subAccount: RecordedSubAccount) {
      const attempt = yield* Effect.orDie(decodeSigned(subAccount))
      return toOutcome(yield* Effect.mapError(observe(attempt, "confirmed"), unavailable))
    }, onChain)

    const land = Effect.fn("SolanaWallets.land")(function* (subAccount: RecordedSubAccount) {
      const attempt = yield* Effect.orDie(decodeSigned(subAccount))
      return yield* awaitOutcome(attempt, { commitment: "confirmed", resendEvery, waitAtMost }).pipe(
        Effect.map(toOutcome),
        Effect.catchTags({
          OutcomeUnknown: () => Effect.succeed<SubAccountOutcome>({ _tag: "Pending" }),
          ChainUnavailable: (error) => Effect.fail(unavailable(error))
        })
      )
    }, onChain)

    return SolanaWallets.of({ issue, sign, outcome, land })
  })
)
