/**
 * The Solana chain over JSON-RPC. Every request is bounded in time and size, traced as `solana.<method>` and measured;
 * whatever goes wrong on the way to an answer is `ChainUnavailable`.
 *
 * There may be several endpoints. A read goes to the first that answers: one that is silent, behind or serves another
 * chain is passed over, and tried last for a while. Transactions are sent to all. What decides whether a transaction
 * may still land is read from each alone, by `each` (layers/solana/lifecycle/observe.ts).
 */
import { PublicKey } from "@solana/web3.js"
import {
  Cache,
  Clock,
  Context,
  Duration,
  Effect,
  Exit,
  Layer,
  Metric,
  Option,
  type Redacted,
  Result,
  Schema
} from "effect"
import { FetchHttpClient } from "effect/http"
import { solanaChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import type { AnswerSchema } from "#layers/provider/makeFind.ts"
import * as Answers from "#layers/solana/rpc/answers.ts"
import { alone, type Call, type Request, type SlotSchema, withFallback } from "#layers/solana/rpc/Call.ts"
import { connect, type EndpointFailure } from "#layers/solana/rpc/Endpoint.ts"
import { batchedReads, type Read } from "#layers/solana/rpc/batchedReads.ts"
import type { Account, Balances, IncludedTransaction, Requests, SignatureStatus } from "#layers/solana/rpc/Requests.ts"

interface Rpc extends Requests {
  /** Requests over each endpoint alone; nothing is shared between askers. */
  readonly each: ReadonlyArray<Requests>
}

const rentLife = Duration.hours(1)
const accountsOfARequest = 100
const signaturesOfARequest = 256
const feeAccountsOfARequest = 128
/** Most signatures that a node answers at once. */
export const signaturesOfAPage = 1_000

const measured = <A>(method: string, effect: Effect.Effect<A, EndpointFailure>) =>
  Effect.gen(function* () {
    const start = yield* Clock.monotonicTimeNanos
    return yield* effect.pipe(
      Effect.mapError(
        ({ isBehind, reason }) =>
          new ChainUnavailable({ chainId: solanaChainId, reason, ...(isBehind === true ? { isBehind } : {}) })
      ),
      Effect.onExit((exit) =>
        Effect.flatMap(Clock.monotonicTimeNanos, (end) =>
          Metric.update(
            Metric.withAttributes(Metrics.chainRequestDuration, {
              "rpc.system.name": "jsonrpc",
              "rpc.method": method,
              "ballast.chain.id": String(solanaChainId),
              ...(Exit.isSuccess(exit) ? {} : { "error.type": "ChainUnavailable" })
            }),
            Number(end - start) / 1e9
          )
        )
      )
    )
  }).pipe(Effect.withSpan(`solana.${method}`, { kind: "client", attributes: { "chain.id": solanaChainId } }))

const accountOf = ({ data, lamports, owner }: typeof Answers.RawAccount.Type): Account => ({
  owner: new PublicKey(owner),
  lamports: BigInt(lamports),
  data: Uint8Array.from(Buffer.from(data[0], "base64"))
})

const balancesOf = (
  lamports: ReadonlyArray<number>,
  tokens: NonNullable<typeof Answers.Transaction.Type>["meta"]["preTokenBalances"]
): Balances => ({
  lamports: lamports.map(BigInt),
  tokens: tokens.map(({ mint, owner, uiTokenAmount: { amount } }) => ({ mint, owner, raw: BigInt(amount) }))
})

const includedOf = ({
  meta,
  slot,
  transaction: [text]
}: NonNullable<typeof Answers.Transaction.Type>): IncludedTransaction => ({
  slot: BigInt(slot),
  bytes: Uint8Array.from(Buffer.from(text, "base64")),
  loaded: [...(meta.loadedAddresses?.writable ?? []), ...(meta.loadedAddresses?.readonly ?? [])],
  before: balancesOf(meta.preBalances, meta.preTokenBalances),
  after: balancesOf(meta.postBalances, meta.postTokenBalances)
})

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64")

const misread = (reason: string) => new ChainUnavailable({ chainId: solanaChainId, reason })

const minContext = (atLeastSlot: bigint) => (atLeastSlot === 0n ? {} : { minContextSlot: Number(atLeastSlot) })

const readAccounts = Effect.fnUntraced(function* (call: Call, keys: ReadonlyArray<string>, atLeastSlot: bigint) {
  const config = { encoding: "base64", commitment: "confirmed", ...minContext(atLeastSlot) }
  const { context, value } = yield* measured(
    "getMultipleAccounts",
    call.at({ method: "getMultipleAccounts", params: [keys, config], schema: Answers.Accounts }, atLeastSlot)
  )
  if (value.length !== keys.length) return yield* misread("getMultipleAccounts: answered for other accounts")
  return {
    slot: BigInt(context.slot),
    values: value.map((account) => Option.map(Option.fromNullOr(account), accountOf))
  }
})

const readStatuses = Effect.fnUntraced(function* (call: Call, signatures: ReadonlyArray<string>) {
  const { context, value } = yield* measured(
    "getSignatureStatuses",
    call.any({
      method: "getSignatureStatuses",
      params: [signatures, { searchTransactionHistory: true }],
      schema: Answers.Statuses
    })
  )
  if (value.length !== signatures.length) return yield* misread("getSignatureStatuses: answered for other signatures")
  return {
    slot: BigInt(context.slot),
    values: value.map((found) =>
      Option.map(Option.fromNullOr(found), ({ confirmationStatus, err, slot }): SignatureStatus => ({
        slot: BigInt(slot),
        error: err,
        // Nodes leave the status out for what is so old that it is final.
        commitment: confirmationStatus ?? "finalized"
      }))
    )
  }
})

/** All but what is batched and what goes to every endpoint. */
const requestsOver = (
  call: Call,
  {
    accounts,
    send,
    statuses
  }: {
    readonly accounts: (
      keys: ReadonlyArray<string>,
      atLeastSlot: bigint
    ) => Effect.Effect<Read<Option.Option<Account>>, ChainUnavailable>
    readonly statuses: Requests["statuses"]
    readonly send: Requests["send"]
  }
): Requests => {
  const ask = <S extends AnswerSchema>(method: string, params: ReadonlyArray<unknown>, schema: S) =>
    measured(method, call.any({ method, params, schema }))
  const askAt = <S extends SlotSchema>(request: Request<S>, notBefore: bigint) =>
    measured(request.method, call.at(request, notBefore))
  return {
    latestBlockhash: Effect.map(
      askAt({ method: "getLatestBlockhash", params: [{ commitment: "confirmed" }], schema: Answers.Blockhash }, 0n),
      ({ value: { blockhash, lastValidBlockHeight } }) => ({
        blockhash,
        lastValidBlockHeight: BigInt(lastValidBlockHeight)
      })
    ),
    position: (commitment) =>
      Effect.map(ask("getEpochInfo", [{ commitment }], Answers.Position), ({ absoluteSlot, blockHeight }) => ({
        slot: BigInt(absoluteSlot),
        height: BigInt(blockHeight)
      })),
    accounts: (keys, atLeastSlot = 0n) =>
      accounts(
        keys.map((key) => key.toBase58()),
        atLeastSlot
      ),
    tokenAccounts: Effect.fnUntraced(function* (owner, tokenProgram, atLeastSlot = 0n) {
      const config = { encoding: "base64", commitment: "confirmed", ...minContext(atLeastSlot) }
      const params = [owner.toBase58(), { programId: tokenProgram.toBase58() }, config]
      const { context, value } = yield* askAt(
        { method: "getTokenAccountsByOwner", params, schema: Answers.OwnedAccounts },
        atLeastSlot
      )
      return {
        slot: BigInt(context.slot),
        values: value.map(({ account, pubkey }) => ({ key: new PublicKey(pubkey), ...accountOf(account) }))
      }
    }),
    statuses,
    signatures: (address, atLeastSlot, before) =>
      Effect.map(
        ask(
          "getSignaturesForAddress",
          [
            address.toBase58(),
            {
              commitment: "finalized",
              limit: signaturesOfAPage,
              ...minContext(atLeastSlot),
              ...(before === undefined ? {} : { before })
            }
          ],
          Answers.Signatures
        ),
        (listed) => listed.map(({ err, signature, slot }) => ({ signature, slot: BigInt(slot), error: err }))
      ),
    transaction: (signature) =>
      Effect.map(
        ask(
          "getTransaction",
          [signature, { encoding: "base64", commitment: "finalized", maxSupportedTransactionVersion: 0 }],
          Answers.Transaction
        ),
        (found) => Option.map(Option.fromNullOr(found), includedOf)
      ),
    simulate: (transaction) =>
      Effect.map(
        askAt(
          {
            method: "simulateTransaction",
            params: [
              base64(transaction),
              { encoding: "base64", commitment: "confirmed", sigVerify: false, replaceRecentBlockhash: true }
            ],
            schema: Answers.Simulation
          },
          0n
        ),
        ({ value: { err, logs, unitsConsumed } }) => ({ error: err, logs: logs ?? [], units: unitsConsumed ?? 0 })
      ),
    send,
    recentFees: (writable) =>
      Effect.map(
        ask(
          "getRecentPrioritizationFees",
          [writable.slice(0, feeAccountsOfARequest).map((key) => key.toBase58())],
          Answers.RecentFees
        ),
        (fees) => fees.map(({ prioritizationFee }) => BigInt(prioritizationFee))
      ),
    firstSlot: Effect.map(ask("getFirstAvailableBlock", [], Answers.Slot), BigInt),
    minimumRent: (bytes) => Effect.map(ask("getMinimumBalanceForRentExemption", [bytes], Answers.Lamports), BigInt)
  }
}

const sendTo = (call: Call, transaction: Uint8Array) =>
  Effect.asVoid(
    measured(
      "sendTransaction",
      call.any({
        method: "sendTransaction",
        params: [base64(transaction), { encoding: "base64", skipPreflight: true, maxRetries: 0 }],
        schema: Schema.String
      })
    )
  )

export class SolanaRpc extends Context.Service<SolanaRpc, Rpc>()("ballast/layers/solana/SolanaRpc") {
  /** `urls` in the order in which they are tried. */
  static readonly layer = (urls: ReadonlyArray<Redacted.Redacted<string>>) =>
    Layer.effect(
      SolanaRpc,
      Effect.gen(function* () {
        const endpoints = yield* Effect.forEach(urls, (url) => connect(url, urls.length === 1 ? 1 : 0))
        const call = withFallback(endpoints)
        const accounts = yield* batchedReads(accountsOfARequest, (keys, slot) => readAccounts(call, keys, slot))
        const statuses = yield* batchedReads(signaturesOfARequest, (keys) => readStatuses(call, keys))
        const requests = requestsOver(call, {
          accounts,
          statuses: (signatures) => statuses(signatures, 0n),
          send: Effect.fnUntraced(function* (transaction) {
            const results = yield* Effect.forEach(
              endpoints,
              (endpoint) => Effect.result(sendTo(alone(endpoint), transaction)),
              { concurrency: "unbounded" }
            )
            const failure = results.find(Result.isFailure)
            if (results.some(Result.isSuccess)) return
            return yield* failure?.failure ?? misread("no RPC endpoint is configured for Solana")
          })
        })
        const rents = yield* Cache.makeWith(requests.minimumRent, {
          capacity: accountsOfARequest,
          timeToLive: (exit) => (Exit.isSuccess(exit) ? rentLife : Duration.zero)
        })
        return {
          ...requests,
          minimumRent: (bytes) => Cache.get(rents, bytes),
          each: endpoints.map(alone).map((one) =>
            requestsOver(one, {
              accounts: (keys, slot) => readAccounts(one, keys, slot),
              statuses: (signatures) => readStatuses(one, signatures),
              send: (transaction) => sendTo(one, transaction)
            })
          )
        }
      })
    ).pipe(Layer.provide(FetchHttpClient.layer))
}
