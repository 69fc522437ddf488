/**
 * Chains, keys and a bridge that do what a script says, exact to the unit, and that outlive the process that asks them.
 */
import { Effect, Layer, Result } from "effect"
import type { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { ChainId, type EvmAddress } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { RequiredSignatures } from "#domain/account/RequiredSignatures.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { AuthorizationRequired, SwapBatches, type SwapBatch } from "#domain/trading/SwapBatches.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { Routing } from "#domain/trading/Routing.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { PermissionId } from "#domain/account/Authorization.ts"
import { ChainWitness } from "#test/fault/crash/chains/ChainWitness.ts"
import { journalOf } from "#test/fault/crash/Journal.ts"
import { makeScriptedChain, type ScriptedChain } from "#test/fault/crash/chains/ScriptedChain.ts"
import { setPrices } from "#test/support/enrolledPortfolio.ts"
import { signAnew } from "#test/support/signAnew.ts"
import { MarketPorts } from "#test/support/chains/TestChains.ts"
import { hash, makeMarket, TestChain } from "#test/support/chains/TestMarket.ts"

/** What goes wrong, for each account or transfer anew. */
export interface Script {
  /** How often the relayer's key gives no signature before it gives one. */
  readonly silence: number
  /** How often a transaction must be replaced before a chain includes it. */
  readonly replacements: number
  /** How many of an account's first transactions the chain takes only for more than they offer, and may cost. */
  readonly dear: number
  /** Polls of a transfer before it is delivered. */
  readonly timeout: number
  /**
   * Polls for a new signature of the owner, whose permission the first chain refuses, before there is one; null when it
   * does not.
   */
  readonly unsigned: number | null
  /** Polls of a withdrawal's receipt that get no answer. */
  readonly unread: number
  /** Readings of an account that are answered by nodes that are behind. */
  readonly behind: number
  /** Where the operation is cancelled: while it waits for its owner, or when its key is asked to sign. */
  readonly cancelled: "awaiting" | "signing" | null
  /** The step in which the service itself is at fault. */
  readonly fault: "prepare" | "verify" | null
}

export const noFaults: Script = {
  silence: 0,
  replacements: 0,
  dear: 0,
  timeout: 0,
  unsigned: null,
  unread: 0,
  behind: 0,
  cancelled: null,
  fault: null
}

const relayer = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress

type Count = (key: string) => number

/** The next with its nonce. */
const anew = (transaction: SignedTransaction): SignedTransaction => ({
  ...transaction,
  txHash: hash(`tx ${transaction.chainId} ${transaction.replaces.length + 1}`, transaction.nonce),
  replaces: [...transaction.replaces, transaction.txHash]
})

const relayerOf = (
  chain: ScriptedChain,
  asked: Count,
  { onAsked, silence }: Pick<Script, "silence"> & { readonly onAsked: Effect.Effect<void> }
) =>
  Relayer.of({
    address: relayer,
    accounts: [relayer],
    // What follows from being asked is done before it is counted: a process that dies in between is asked anew.
    sign: ({ accountId, actionHash, callData, chainId, fromBlock }, nonce) =>
      Effect.flatMap(onAsked, () =>
        asked(`key ${accountId}`) <= silence
          ? Effect.fail(new ChainUnavailable({ chainId, reason: "the key gave no signature" }))
          : Effect.succeed({
              chainId,
              actionHash,
              relayer,
              nonce,
              txHash: hash(`tx ${chainId}`, nonce),
              raw: callData,
              fromBlock,
              replaces: []
            })
      ),
    usedNonces: (chainId) => Effect.sync(() => chain.usedNonces(chainId)),
    quoteFeeBump: (transaction, { feeCeiling }) =>
      Effect.sync(() =>
        feeCeiling !== null && chain.isDear(transaction)
          ? { _tag: "AboveLimit" }
          : { _tag: "Bump", fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n } }
      ),
    signReplacement: (transaction) => Effect.succeed(anew(transaction)),
    quoteCancelling: () => Effect.succeedSome({ fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }, gasLimit: 1n }),
    signCancelling: (transaction) => Effect.succeed({ ...anew(transaction), raw: "0x02", cancels: transaction.raw }),
    broadcast: (transaction) => Effect.sync(() => chain.send(transaction))
  })

const unanswered = new ChainUnavailable({ chainId: ChainId.make(8453), reason: "no answer, as the script has it" })

const old = new ChainUnavailable({
  chainId: ChainId.make(8453),
  reason: "the nodes are behind, as the script has it",
  isBehind: true
})

const refused = (permissionId: PermissionId) =>
  new AuthorizationRequired({
    chainId: ChainId.make(8453),
    permissionId,
    cause: "permission_revoked",
    reason: "the owner took the permission back, as the script has it"
  })

const fault = Effect.die(new Error("A fault of the service, as the script has it"))

/** Signs for the portfolio of an operation. */
const ownerOf = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const services = yield* Effect.context<EnrollmentStore | SecureRandom.SecureRandom>()
  return Effect.fnUntraced(function* (operationId: OperationId) {
    const [portfolio] = yield* sql<Parameters<typeof signAnew>[0]>`
      SELECT p.tenant_id AS "tenantId", p.portfolio_id AS "portfolioId", p.strategy_id AS "strategyId"
      FROM operations o JOIN portfolios p USING (portfolio_id) WHERE o.operation_id = ${operationId}`
    yield* Effect.provideContext(signAnew(portfolio!), services)
  }, Effect.orDie)
})

/** A service has one case at a time. */
const cancelAll = (sql: SqlClient.SqlClient) =>
  Effect.orDie(
    Effect.asVoid(sql`
      UPDATE operations SET cancel_requested_at = coalesce(cancel_requested_at, updated_at) WHERE finished_at IS NULL`)
  )

/** The ports over the market of the file. */
export const marketWorld = (file: string, script: Script) => {
  const keep = journalOf(file)
  const market = makeMarket(keep)
  const chain = makeScriptedChain(market, keep, script)
  const counts = keep<string, number>("counts")
  const asked: Count = (key) => {
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return count
  }

  const scripted = Layer.mergeAll(
    Layer.effectDiscard(setPrices),
    Layer.effect(
      Relayer,
      Effect.map(SqlClient.SqlClient, (sql) =>
        relayerOf(chain, asked, {
          silence: script.silence,
          onAsked: script.cancelled === "signing" ? cancelAll(sql) : Effect.void
        })
      )
    ),
    Layer.succeed(ChainWitness, {
      usedNonces: (chainId) => Effect.sync(() => chain.usedNonces(chainId)),
      included: (account) => Effect.sync(() => chain.landed().filter(({ accountId }) => accountId === account))
    }),
    Layer.effect(
      Balances,
      Effect.map(Balances, (balances) =>
        Balances.of({
          ...balances,
          readMany: (chainId, accounts) =>
            Effect.suspend(() =>
              accounts.some(({ account }) => asked(`balances ${account}`) <= script.behind)
                ? Effect.succeed(accounts.map(() => Result.fail(old)))
                : balances.readMany(chainId, accounts)
            )
        })
      )
    ),
    Layer.effect(
      SwapBatches,
      Effect.map(SwapBatches, (trades) => {
        const unlessRefused = Effect.fnUntraced(function* (batch: SwapBatch) {
          if (script.fault === "prepare") return yield* fault
          const { permissionId } = batch.authorization.chains.find(({ chainId }) => chainId === batch.chainId)!
          const isRefused = script.unsigned !== null && batch.chainId === 8453 && permissionId === "0x00000001"
          if (isRefused) return yield* refused(permissionId)
        })
        return SwapBatches.of({
          prepare: (batch) => Effect.andThen(unlessRefused(batch), trades.prepare(batch)),
          prepareForRun: (batch) => Effect.andThen(unlessRefused(batch), trades.prepareForRun(batch))
        })
      })
    ),
    Layer.effect(
      WithdrawalTransactions,
      Effect.map(WithdrawalTransactions, (withdrawals) =>
        WithdrawalTransactions.of({
          ...withdrawals,
          delivered: (withdrawal, receipt) =>
            Effect.suspend(() => {
              if (script.fault === "verify") return fault
              return asked(`receipt ${withdrawal.accountId}`) > script.unread
                ? withdrawals.delivered(withdrawal, receipt)
                : Effect.fail(unanswered)
            })
        })
      )
    ),
    Layer.effect(
      RequiredSignatures,
      Effect.gen(function* () {
        const signatures = yield* RequiredSignatures
        const owner = yield* ownerOf
        const sql = yield* SqlClient.SqlClient
        return RequiredSignatures.of({
          ...signatures,
          awaitedBy: (operationId) =>
            Effect.gen(function* () {
              if (script.cancelled === "awaiting") yield* cancelAll(sql)
              if (script.unsigned !== null && asked(`owner ${operationId}`) > script.unsigned) yield* owner(operationId)
              return yield* signatures.awaitedBy(operationId)
            })
        })
      })
    ),
    Layer.effect(
      Routing,
      Effect.map(Routing, (routing) =>
        Routing.of({
          ...routing,
          status: (sent) =>
            Effect.suspend(() => {
              const isDue = asked(`transfer ${sent.txHash}`) > script.timeout
              if (isDue && !market.routes.has(sent.txHash)) chain.deliver(sent.txHash)
              return routing.status(sent)
            })
        })
      )
    )
  )
  return scripted.pipe(Layer.provideMerge(MarketPorts), Layer.provideMerge(Layer.succeed(TestChain, market)))
}
