/**
 * An owner with a Solana key: enrolls by one transaction, funds, is brought to a target of SOL, dollars and a share,
 * and leaves without the service, with a node and the key alone.
 */
import { Keypair, PublicKey, VersionedTransaction } from "@solana/web3.js"
import { Effect, Redacted } from "effect"
import { addressOf, type SolanaAccountId, solanaChainId, solanaReference, type WalletId } from "#domain/values/Caip.ts"
import type { PortfolioId, StrategyId } from "#domain/values/Ids.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { leave } from "#layers/solana/withdrawal/leave.ts"
import { Ballast } from "#src/demo/Ballast.ts"
import { completed } from "#src/demo/completed.ts"
import { JourneyFailed } from "#src/demo/JourneyFailed.ts"
import { line, step, table, title, type WeightRow } from "#src/demo/print.ts"
import { Sandbox } from "#src/demo/Sandbox.ts"

/** Percent of the portfolio by symbol. */
const target = [
  ["USDC", 40],
  ["SOL", 30],
  ["TSLAx", 30]
] as const
const tolerance = 1

const fundingUsdc = 1_000_000_000n
/** Lamports for fees, and for the rent of the accounts that the owner opens to receive what is taken out. */
const ownerLamports = 100_000_000n
const nativeSol = `solana:${solanaReference}/slip44:501`

const fees = { percentile: 75, maxPriorityLamports: 1_000_000n }

const solana = Effect.gen(function* () {
  const { overview } = yield* Sandbox
  const found = overview.chains.find(({ chainId }) => chainId === solanaChainId)
  return found ?? (yield* new JourneyFailed({ message: "This sandbox has no Solana chain" }))
})

const assetNamed = Effect.fnUntraced(function* (symbol: string) {
  const { assets } = yield* solana
  const found = assets.find((asset) => asset.symbol === symbol)
  return found ?? (yield* new JourneyFailed({ message: `This sandbox has no ${symbol} on Solana` }))
})

const createStrategy = Effect.gen(function* () {
  const ballast = yield* Ballast
  const assets = yield* Effect.forEach(target, ([symbol, percent]) =>
    Effect.map(assetNamed(symbol), ({ assetId }) => ({ assetId, weight: percent * 100 }))
  )
  const { data } = yield* ballast.strategies.createStrategy({
    payload: {
      name: "SOL, dollars and a share",
      description: "On Solana.",
      allocation: { assets },
      schedule: { type: "interval", frequency: "daily" }
    }
  })
  return data.strategyId as StrategyId
})

const signedBy = (owner: Keypair, transaction: string): string => {
  const issued = VersionedTransaction.deserialize(Buffer.from(transaction, "base64"))
  issued.sign([owner])
  return Buffer.from(issued.serialize()).toString("base64")
}

const enroll = Effect.fnUntraced(function* (strategyId: StrategyId, owner: Keypair) {
  const ballast = yield* Ballast
  const ownerAccountId = `solana:${solanaReference}:${owner.publicKey.toBase58()}` as WalletId
  const draft = { ownerAccountId, strategyId, chainIds: [solanaChainId] }
  const stage1 = yield* step(
    "Stage 1: the transaction that the owner signs",
    Effect.map(ballast.enrollment.prepareEnrollment({ payload: draft }), ({ data }) => data),
    ({ message }) => `sign ${message.kind}`
  )
  const { depositAccountId, solanaTransaction, walletAccountId } = stage1
  if (solanaTransaction === undefined || depositAccountId === undefined || walletAccountId === undefined)
    return yield* new JourneyFailed({ message: "Stage 1 issued no transaction" })
  const { data } = yield* step(
    "Stage 2: the wallet is made on the chain",
    ballast.enrollment.enroll({
      payload: {
        ...draft,
        flowId: stage1.flowId as never,
        accountIndex: stage1.accountIndex,
        agentAccountId: stage1.agentAccountId as never,
        signedSolanaTransaction: signedBy(owner, solanaTransaction),
        portfolioName: "Demo on Solana"
      }
    }),
    () => addressOf(depositAccountId as SolanaAccountId)
  )
  return {
    portfolioId: data.portfolioId as PortfolioId,
    deposit: depositAccountId as SolanaAccountId,
    wallet: new PublicKey(addressOf(walletAccountId as SolanaAccountId))
  }
})

const rebalance = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
  const ballast = yield* Ballast
  const { data } = yield* ballast.portfolios.rebalancePortfolio({
    params: { portfolioId },
    payload: undefined as never
  })
  return yield* completed(data.operationId as never)
})

const showPositions = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
  const ballast = yield* Ballast
  const { data } = yield* ballast.portfolios.getPositions({ params: { portfolioId } })
  const total = Math.max(1, Number(data.totalValueUsd))
  const rows = target.map(([symbol, percent]): WeightRow => {
    const held = data.assets.find((asset) => asset.symbol === symbol)
    const valueUsd = Number(held?.valueUsd ?? 0)
    return {
      chainId: solanaChainId,
      symbol,
      balance: held?.balance ?? "0",
      valueUsd,
      weight: (100 * valueUsd) / total,
      target: percent
    }
  })
  const isOnTarget = yield* table(rows, tolerance)
  yield* line(`total $${data.totalValueUsd}`)
  return isOnTarget
})

/** Nothing of the service is called: the program of the wallet obeys its root. */
const goOut = Effect.fnUntraced(function* (owner: Keypair, wallet: PublicKey) {
  const { rpcUrl } = yield* solana
  const [left] = yield* leave({ wallet, owner: { key: owner }, fees }).pipe(
    Effect.provide(SolanaRpc.layer([Redacted.make(rpcUrl)]))
  )
  if (left === undefined || left.stayed.length > 0 || left.taken.length !== target.length)
    return yield* new JourneyFailed({ message: `Something stayed: ${JSON.stringify(left)}` })
  return left
})

/** Fails when a position is more than one percent off its target, and when anything stays in the portfolio. */
export const solanaJourney = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  yield* title("Enroll on Solana")
  const strategyId = yield* step("A strategy of SOL, dollars and a share", createStrategy, (id) => id)
  const owner = Keypair.generate()
  const { deposit, portfolioId, wallet } = yield* enroll(strategyId, owner)
  yield* title("Fund and rebalance")
  const { assetId } = yield* assetNamed("USDC")
  yield* step("1000 USDC to the deposit address", sandbox.faucet(deposit, assetId, fundingUsdc))
  yield* step("Rebalance over Jupiter", rebalance(portfolioId), ({ operationId }) => operationId)
  if (!(yield* showPositions(portfolioId)))
    return yield* new JourneyFailed({ message: "A position is more than one percent off its target" })
  yield* title("Leave without the service")
  const ownerAccount = `solana:${solanaReference}:${owner.publicKey.toBase58()}`
  yield* step("A tenth of SOL to the owner, for fees", sandbox.faucet(ownerAccount, nativeSol, ownerLamports))
  const { taken } = yield* step("The owner's key into the agent's role, all out", goOut(owner, wallet))
  for (const asset of taken) yield* line(`taken ${asset}`)
  yield* title("The owner holds SOL, dollars and the share, and the portfolio is empty.")
})
