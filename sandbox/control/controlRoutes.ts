/**
 * The control API of the world: faucet, prices, time, faults, tenants. Never part of the service.
 */
import { Effect, Option, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Caip from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { nativeCoinOn } from "#domain/chain/nativeCoins.ts"
import { badField, ControlRefusal, readBody, refusalResponse } from "#sandbox/control/answers.ts"
import { AttestorProcess } from "#sandbox/attestor/AttestorProcess.ts"
import { ApiProcess } from "#sandbox/service/ApiProcess.ts"
import { tokenOf } from "#sandbox/chain/Chain.ts"
import * as Faucet from "#sandbox/chain/Faucet.ts"
import { faultModes, Faults, faultTargets, isModeOf } from "#sandbox/faults/Faults.ts"
import { nodeFaultFields } from "#sandbox/faults/NodeFault.ts"
import { type SplToken, splCatalog, splTokenOf } from "#sandbox/assets/splCatalog.ts"
import { solanaAddressOf } from "#sandbox/solana/solanaAddressOf.ts"
import { WorldSolana } from "#sandbox/solana/WorldSolana.ts"
import type { Token } from "#sandbox/assets/catalog.ts"
import type { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { StreamProcess } from "#sandbox/service/StreamProcess.ts"
import { Tenants } from "#sandbox/control/Tenants.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"

/** Ten years: enough for every schedule, and far from what a block's timestamp can hold. */
const longestMove = 10 * 366 * 86_400_000
const amountLimit = 10n ** 36n
/** Token accounts of Solana hold 64 bits; pools need room above what anybody was given. */
/** A million ether; the treasury has many times as much. */
const weiLimit = 10n ** 24n
const splAmountLimit = 10n ** 17n
const lowestPrice = Decimal.one / 10n ** 9n
const highestPrice = Decimal.one * 10n ** 9n

/** CAIP-10 of an account of the Solana chain. */
const SolanaAccountId = Schema.String.check(
  Schema.makeFilter((text) => solanaAddressOf(text) !== undefined, {
    message: `Expected a CAIP-10 account, eip155:<chainId>:<address> or solana:${Caip.solanaReference}:<address>`
  })
)

/** CAIP-19 of SOL that is no token, which pays fees and rents. */
const nativeSol = `solana:${Caip.solanaReference}/slip44:501`

const FaucetBody = Schema.Struct({
  accountId: Schema.Union([Caip.EvmAccountId, SolanaAccountId]),
  assetId: Schema.Union([Caip.HeldAssetId, Schema.Literal(nativeSol)]),
  amountRaw: Schema.String.check(Schema.isPattern(/^[1-9][0-9]{0,36}$/u))
})
const PricesBody = Schema.Struct({ assetId: Caip.AssetId, priceUsd: Schema.Union([Schema.String, Schema.Finite]) })
const AdvanceBody = Schema.Struct({ ms: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: longestMove })) })
const FaultsBody = Schema.Struct({
  target: Schema.String,
  mode: Schema.Literals([...faultModes, "kill"]),
  count: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))),
  ...nodeFaultFields
})
const TenantsBody = Schema.Struct({
  name: Schema.NonEmptyString.check(Schema.isMaxLength(100)),
  entitlements: Schema.Array(Schema.NonEmptyString.check(Schema.isMaxLength(100))).check(Schema.isMaxLength(50))
})

const isNativeSol = (id: Caip.HeldAssetId | typeof nativeSol): id is typeof nativeSol => id === nativeSol

const reply = (body: unknown, status = 200) => HttpServerResponse.jsonUnsafe(body, { status })

/** Failures of the world become answers: what the caller got wrong as it is, what broke here as 500. */
const answering = <R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, ControlRefusal | SandboxFailure, R>
) =>
  handler.pipe(
    Effect.catchTags({
      ControlRefusal: (refusal) => Effect.succeed(refusalResponse(refusal)),
      SandboxFailure: ({ message }) => Effect.succeed(refusalResponse(new ControlRefusal({ status: 500, message })))
    })
  )

/** Finds the token of an asset of the world, and its chain when that is an EVM one. */
const chainOf = Effect.fnUntraced(function* (chains: WorldChains["Service"], chainId: Caip.ChainId) {
  const chain = chains.find(chainId)
  if (chain !== undefined) return chain
  return yield* badField(
    "assetId",
    `This sandbox has the chains ${[...chains.all.map((known) => known.chainId), Caip.solanaChainId].join(", ")}`
  )
})

const locateCoin = Effect.fnUntraced(function* (chains: WorldChains["Service"], assetId: Caip.NativeAssetId) {
  const chain = yield* chainOf(chains, Caip.chainIdOf(assetId))
  const coin = nativeCoinOn(Caip.chainIdOf(assetId))?.assetId
  if (assetId === coin) return { _tag: "Evm", chain, token: "wei" } as const
  return yield* badField("assetId", `The native coin of chain ${chain.chainId} is ${coin}`)
})

const locate = Effect.fnUntraced(function* (chains: WorldChains["Service"], assetId: Caip.AssetId) {
  if (!Caip.isErc20(assetId)) {
    const found = splTokenOf(assetId)
    if (found !== undefined) return { _tag: "Solana", token: found } as const
    return yield* badField("assetId", `Solana has ${splCatalog.map((known) => known.assetId).join(", ")}`)
  }
  const chain = yield* chainOf(chains, Caip.chainIdOf(assetId))
  const token = tokenOf(chain, assetId)
  if (token === undefined) {
    return yield* badField(
      "assetId",
      `Chain ${chain.chainId} has ${chain.tokens.map((known) => known.assetId).join(", ")}`
    )
  }
  return { _tag: "Evm", chain, token } as const
})

const overview = Effect.gen(function* () {
  const config = yield* WorldConfig
  const chains = yield* WorldChains
  const clock = yield* WorldClock
  const solana = yield* WorldSolana
  const tenants = yield* Tenants
  const { environment } = yield* ApiProcess
  const view = ({ assetId, decimals, symbol }: Token | SplToken) => ({
    assetId,
    symbol,
    decimals,
    priceUsd: Decimal.format(chains.prices.price(assetId), 18).replace(/\.?0+$/, "")
  })
  return Effect.gen(function* () {
    return reply({
      apiBaseUrl: config.apiBaseUrl,
      streamBaseUrl: config.streamBaseUrl,
      adminToken: environment["ADMIN_TOKEN"],
      internalToken: environment["INTERNAL_TOKEN"],
      now: (yield* clock.read).now,
      tenants: yield* tenants.list,
      chains: [
        ...chains.all.map((chain) => ({
          chainId: chain.chainId,
          namespace: "eip155",
          rpcUrl: chain.rpcUrl,
          assets: chain.tokens.map(view)
        })),
        {
          chainId: Caip.solanaChainId,
          namespace: "solana",
          rpcUrl: `${config.controlBaseUrl}/rpc/${Caip.solanaChainId}`,
          swig: solana.swig,
          assets: splCatalog.map(view)
        }
      ]
    })
  })
})

const faucet = Effect.gen(function* () {
  const chains = yield* WorldChains
  const solana = yield* WorldSolana
  return Effect.gen(function* () {
    const { accountId, assetId, amountRaw } = yield* readBody(FaucetBody)
    const found = isNativeSol(assetId)
      ? ({ _tag: "Solana", token: "lamports" } as const)
      : Caip.isNative(assetId)
        ? yield* locateCoin(chains, assetId)
        : yield* locate(chains, assetId)
    const amount = BigInt(amountRaw)
    const limit = found._tag !== "Evm" ? splAmountLimit : found.token === "wei" ? weiLimit : amountLimit
    if (amount > limit) return yield* badField("amountRaw", `At most ${limit}`)
    if (found._tag === "Solana") {
      const owner = solanaAddressOf(accountId)
      if (owner === undefined) return yield* badField("accountId", "The asset is on Solana, the account is not")
      return reply({ txHash: yield* solana.issue(found.token, owner, amount) })
    }
    const { chain, token } = found
    const evmAccount = Schema.decodeUnknownOption(Caip.EvmAccountId)(accountId)
    if (Option.isNone(evmAccount) || Caip.chainIdOf(evmAccount.value) !== chain.chainId) {
      return yield* badField("accountId", `The asset is on chain ${chain.chainId}, the account is not`)
    }
    const account = Caip.addressOf(evmAccount.value) as string as `0x${string}`
    if (token === "wei") return reply({ txHash: yield* Faucet.sendEther(chain, account, amount) })
    return reply({ txHash: yield* Faucet.mint(chain, account, { token, amountRaw: amount }) })
  })
})

const prices = Effect.gen(function* () {
  const chains = yield* WorldChains
  const solana = yield* WorldSolana
  return Effect.gen(function* () {
    const { assetId, priceUsd } = yield* readBody(PricesBody)
    const found = yield* locate(chains, assetId)
    const price = typeof priceUsd === "number" ? Decimal.fromNumber(priceUsd) : Decimal.parse(priceUsd)
    if (price === undefined || price < lowestPrice || price > highestPrice) {
      return yield* badField("priceUsd", "Expected US dollars as a decimal string between 0.000000001 and 1000000000")
    }
    yield* found._tag === "Evm" ? chains.setPrice(found.chain, found.token, price) : solana.setPrice(found.token, price)
    return reply({ assetId, priceUsd: Decimal.format(price, 18).replace(/\.?0+$/, "") })
  })
})

const advance = Effect.gen(function* () {
  const chains = yield* WorldChains
  const solana = yield* WorldSolana
  const clock = yield* WorldClock
  return Effect.gen(function* () {
    const { ms } = yield* readBody(AdvanceBody)
    // Chains first: work that the clock makes due must find them in the new time.
    yield* chains.advanceTo((yield* clock.read).now + ms)
    yield* solana.advance(ms)
    const { now } = yield* clock.advance(ms)
    return reply({ now })
  })
})

const faults = Effect.gen(function* () {
  const switches = yield* Faults
  const api = yield* ApiProcess
  const stream = yield* StreamProcess
  const attestor = yield* AttestorProcess
  const ofStream = new Map<string, Effect.Effect<void, SandboxFailure>>([
    ["kill", stream.killAndRestart],
    ["down", stream.cut],
    ["slow", stream.stall]
  ])
  return Effect.gen(function* () {
    const body = yield* readBody(FaultsBody)
    if (body.target === "api") {
      if (body.mode !== "kill") return yield* badField("mode", `"api" can only be told to "kill"`)
      yield* api.killAndRestart
      return reply(body)
    }
    if (body.target === "stream") {
      const act = ofStream.get(body.mode)
      if (act === undefined) return yield* badField("mode", `"stream" knows "kill", "down" and "slow"`)
      yield* act
      return reply(body)
    }
    if (body.target === "attestor" && body.mode === "kill") {
      yield* attestor.killAndRestart
      return reply(body)
    }
    const target = faultTargets.get(body.target)
    if (target === undefined) {
      return yield* badField("target", `Expected one of ${[...faultTargets.keys(), "api", "stream"].join(", ")}`)
    }
    if (body.mode === "kill") return yield* badField("mode", `Only "api", "stream" and "attestor" can be killed`)
    if (!isModeOf(target, body.mode)) return yield* badField("mode", `"${body.target}" does not know "${body.mode}"`)
    yield* switches.set(target, { ...body, mode: body.mode })
    return reply(body)
  })
})

const tenants = Effect.gen(function* () {
  const service = yield* Tenants
  return Effect.gen(function* () {
    const { name, entitlements } = yield* readBody(TenantsBody)
    return reply(yield* service.create(name, entitlements), 201)
  })
})

/** All routes of the control API. */
export const controlRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", "/", answering(yield* overview))
    yield* router.add("POST", "/faucet", answering(yield* faucet))
    yield* router.add("POST", "/prices", answering(yield* prices))
    yield* router.add("POST", "/clock/advance", answering(yield* advance))
    yield* router.add("POST", "/faults", answering(yield* faults))
    yield* router.add("POST", "/tenants", answering(yield* tenants))
    yield* router.add(
      "*",
      "/*",
      refusalResponse(new ControlRefusal({ status: 404, message: "No such route. GET / says what is here" }))
    )
  })
)
