/**
 * LI.FI's API v1, as far as the world needs it: quotes and routes over the bridge for USDC between its chains, and over
 * pools of its own for swaps on one; and the status of what was deposited, read from the chains.
 */
import { Effect, Option, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type Address, type Hex, isAddressEqual } from "viem"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { lifiToken, type QuotedStep, quoteStep } from "#sandbox/lifi/quote.ts"
import { timeOf } from "#sandbox/chain/spokePool.ts"
import { type SwapStep, swapSteps } from "#sandbox/lifi/swap.ts"
import { lifiStatus } from "#sandbox/lifi/status.ts"
import { withFaults } from "#sandbox/faults/withFaults.ts"
import type { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"

const base = "/lifi/v1"
const Address = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/u))
const Amount = Schema.String.check(Schema.isPattern(/^[1-9][0-9]{0,40}$/u))
const Slippage = Schema.FiniteFromString.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

const QuoteQuery = Schema.Struct({
  fromChain: Schema.FiniteFromString,
  toChain: Schema.FiniteFromString,
  fromToken: Address,
  toToken: Address,
  fromAmount: Amount,
  fromAddress: Address,
  toAddress: Schema.optionalKey(Address),
  slippage: Schema.optionalKey(Slippage)
})
const TokenQuery = Schema.Struct({ chain: Schema.NonEmptyString, token: Schema.NonEmptyString })
const StatusQuery = Schema.Struct({
  txHash: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u)),
  fromChain: Schema.optionalKey(Schema.FiniteFromString)
})
const RoutesBody = Schema.Struct({
  fromChainId: Schema.Int,
  fromTokenAddress: Address,
  fromAmount: Amount,
  fromAddress: Address,
  toChainId: Schema.Int,
  toTokenAddress: Address,
  toAddress: Schema.optionalKey(Address),
  options: Schema.optionalKey(Schema.Struct({ slippage: Schema.optionalKey(Schema.Finite) }))
})
const StepBody = Schema.Struct({
  tool: Schema.String,
  action: Schema.Struct({
    fromChainId: Schema.Int,
    toChainId: Schema.Int,
    fromToken: Schema.Struct({ address: Address }),
    toToken: Schema.Struct({ address: Address }),
    fromAmount: Amount,
    fromAddress: Address,
    toAddress: Schema.optionalKey(Address),
    slippage: Schema.optionalKey(Schema.Finite)
  })
})

/** LI.FI's codes of errors. */
const code = { notFound: 1002, rateLimit: 1005, server: 1006, validation: 1011 } as const

const reply = (body: unknown, status = 200) => HttpServerResponse.jsonUnsafe(body, { status })
const problem = (status: number, message: string, number: number) => reply({ message, code: number }, status)

const answers = {
  error: problem(500, "Internal Server Error", code.server),
  rateLimited: problem(429, "Rate limit exceeded", code.rateLimit)
}

interface Wanted {
  readonly fromChain: number
  readonly toChain: number
  readonly fromToken: string
  readonly toToken: string
  readonly fromAmount: string
  readonly fromAddress: string
  readonly toAddress?: string | undefined
  readonly slippage?: number | undefined
}

const usualSlippage = 0.005

type Step = QuotedStep | SwapStep

/** The steps, best first; none when neither the bridge nor the pools go there. */
const stepsFor = Effect.fnUntraced(function* (chains: WorldChains["Service"], wanted: Wanted) {
  const [from, to] = [chains.find(wanted.fromChain), chains.find(wanted.toChain)]
  if (from === undefined || to === undefined) return []
  if (from !== to)
    return Option.toArray(Option.fromUndefinedOr(transferStep(from, to, { ...wanted, quotedAt: yield* timeOf(from) })))
  const token = (address: string) => from.tokens.find((known) => isAddressEqual(known.address, address as Address))
  const [sell, buy] = [token(wanted.fromToken), token(wanted.toToken)]
  if (sell === undefined || buy === undefined || sell === buy) return []
  const fromAddress = wanted.fromAddress as Address
  const steps: ReadonlyArray<Step> = yield* swapSteps({
    chain: from,
    sell,
    buy,
    amount: BigInt(wanted.fromAmount),
    fromAddress,
    toAddress: (wanted.toAddress ?? fromAddress) as Address,
    slippage: wanted.slippage ?? usualSlippage
  })
  return steps.toSorted((a, b) => (BigInt(b.estimate.toAmount) > BigInt(a.estimate.toAmount) ? 1 : -1))
})

/** The step; undefined when the bridge does not go there. */
const transferStep = (
  from: Chain,
  to: Chain,
  wanted: Wanted & { readonly quotedAt: number }
): QuotedStep | undefined => {
  const { usdc: sell } = from.catalog
  const { usdc: buy } = to.catalog
  const isServed =
    isAddressEqual(wanted.fromToken as Address, sell.address) && isAddressEqual(wanted.toToken as Address, buy.address)
  if (!isServed) return undefined
  const fromAddress = wanted.fromAddress as Address
  return quoteStep({
    from,
    to,
    sell,
    buy,
    amount: BigInt(wanted.fromAmount),
    fromAddress,
    toAddress: (wanted.toAddress ?? fromAddress) as Address,
    slippage: wanted.slippage ?? usualSlippage,
    quotedAt: wanted.quotedAt
  })
}

const noRoute = problem(404, "No available quotes for the requested transfer", code.notFound)

const routeOf = ({ transactionRequest: _, ...step }: Step) => ({
  id: step.id,
  fromChainId: step.action.fromChainId,
  fromAmountUSD: step.estimate.fromAmountUSD,
  fromAmount: step.estimate.fromAmount,
  fromToken: step.action.fromToken,
  fromAddress: step.action.fromAddress,
  toChainId: step.action.toChainId,
  toAmountUSD: step.estimate.toAmountUSD,
  toAmount: step.estimate.toAmount,
  toAmountMin: step.estimate.toAmountMin,
  toToken: step.action.toToken,
  toAddress: step.action.toAddress,
  containsSwitchChain: false,
  steps: [step],
  tags: ["RECOMMENDED"],
  insurance: { state: "NOT_INSURABLE", feeAmountUsd: "0" }
})

/** All routes of the stand-in. */
export const lifi = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const chains = yield* WorldChains
    const faults = yield* Faults

    const answering = <E extends { readonly message: string }, R>(
      answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E | SandboxFailure, R>
    ) =>
      Effect.gen(function* () {
        const checked = answer.pipe(
          Effect.catch((error) => Effect.succeed(problem(400, error.message.slice(0, 500), code.validation)))
        )
        return yield* withFaults(yield* faults.take("lifi"), answers, checked)
      })

    const quote = Effect.gen(function* () {
      const query = yield* HttpServerRequest.schemaSearchParams(QuoteQuery)
      const [step] = yield* stepsFor(chains, query)
      return step === undefined ? noRoute : reply(step)
    })

    const routes = Effect.gen(function* () {
      const body = yield* HttpServerRequest.schemaBodyJson(RoutesBody)
      const steps = yield* stepsFor(chains, {
        ...body,
        fromChain: body.fromChainId,
        toChain: body.toChainId,
        fromToken: body.fromTokenAddress,
        toToken: body.toTokenAddress,
        slippage: body.options?.slippage
      })
      return reply({ routes: steps.map(routeOf), unavailableRoutes: { filteredOut: [], failed: [] } })
    })

    const stepTransaction = Effect.gen(function* () {
      const { action, tool } = yield* HttpServerRequest.schemaBodyJson(StepBody)
      const steps = yield* stepsFor(chains, {
        ...action,
        fromChain: action.fromChainId,
        toChain: action.toChainId,
        fromToken: action.fromToken.address,
        toToken: action.toToken.address
      })
      const step = steps.find((candidate) => candidate.tool === tool)
      return step === undefined ? noRoute : reply(step)
    })

    const status = Effect.gen(function* () {
      const { fromChain, txHash } = yield* HttpServerRequest.schemaSearchParams(StatusQuery)
      return reply(yield* lifiStatus(chains, txHash.toLowerCase() as Hex, fromChain))
    })

    const chainList = Effect.sync(() =>
      reply({
        chains: chains.all.map(({ catalog, chainId, contracts }) => ({
          id: chainId,
          key: catalog.platformId,
          name: catalog.name,
          chainType: "EVM",
          coin: "ETH",
          mainnet: true,
          diamondAddress: contracts.diamond
        }))
      })
    )

    const oneToken = Effect.gen(function* () {
      const { chain: chainId, token: address } = yield* HttpServerRequest.schemaSearchParams(TokenQuery)
      const chain = chains.find(Number(chainId))
      const token = chain?.tokens.find((known) => known.address.toLowerCase() === address.toLowerCase())
      if (chain === undefined || token === undefined) {
        return HttpServerResponse.jsonUnsafe({ message: "Token not found", code: 1003 }, { status: 404 })
      }
      return reply(lifiToken(chain, token))
    })

    const tokens = Effect.sync(() =>
      reply({
        tokens: Object.fromEntries(
          chains.all.map((chain) => [chain.chainId, chain.tokens.map((token) => lifiToken(chain, token))])
        )
      })
    )

    yield* router.add("GET", `${base}/quote`, answering(quote))
    yield* router.add("POST", `${base}/advanced/routes`, answering(routes))
    yield* router.add("POST", `${base}/advanced/stepTransaction`, answering(stepTransaction))
    yield* router.add("GET", `${base}/status`, answering(status))
    yield* router.add("GET", `${base}/chains`, answering(chainList))
    yield* router.add("GET", `${base}/tokens`, answering(tokens))
    yield* router.add("GET", `${base}/token`, answering(oneToken))
  })
)
