/**
 * Ondo Global Markets in its documented shapes, under `/ondo/v1`: unsigned quotes, and signed ones that the world's
 * manager contract takes. Ondo's own tokens live on chains that the world does not have; here it issues the tokens
 * without a price feed. Source: docs.ondo.finance.
 */
import { Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex as HexCodec } from "effect/encoding"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { toHex } from "viem"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { issuerChainOf, issuerSigner, issuerUserId } from "#sandbox/chain/issuer.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { withFaults } from "#sandbox/faults/withFaults.ts"
import type { Token } from "#sandbox/assets/catalog.ts"
import { derivedSecret } from "#sandbox/process/derivedSecret.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"
import { WorldFile } from "#sandbox/WorldFile.ts"

const base = "/ondo/v1"

/** What the issuer earns on each side, basis points. */
const spreadBps = 10n
/** Seconds that a signed quote holds, by its duration. */
const lifeOf = { short: 60, long: 300 } as const

const problem = (status: number, code: string, message: string) =>
  HttpServerResponse.jsonUnsafe({ code, message, documentation: "https://docs.ondo.finance" }, { status })
const answers = {
  error: problem(500, "INTERNAL_SERVER_ERROR", "internal server error"),
  rateLimited: problem(429, "RATE_LIMITED", "rate limit exceeded"),
  unauthorized: problem(401, "INVALID_API_KEY", "invalid API key"),
  forbidden: problem(403, "READ_ONLY_API_KEY", "read-only API key cannot perform write operations")
}

const Body = Schema.Struct({
  chainId: Schema.String,
  symbol: Schema.String,
  side: Schema.Literals(["buy", "sell"]),
  tokenAmount: Schema.String.check(Schema.isPattern(/^[0-9]{1,30}(?:\.[0-9]{1,18})?$/u)),
  duration: Schema.optionalKey(Schema.Literals(["short", "long"]))
})
type Asked = typeof Body.Type

interface Quoted {
  readonly chain: Chain
  readonly token: Token
  readonly side: 0 | 1
  readonly price: bigint
  readonly quantity: bigint
}

const quoteFields = ({ chain, price, quantity, side, token }: Quoted) => ({
  chainId: `${chain.chainId}`,
  symbol: token.symbol,
  ticker: token.symbol,
  assetAddress: token.address,
  side: `${side}`,
  tokenAmount: `${quantity}`,
  price: `${price}`
})

const types = {
  Quote: [
    { name: "chainId", type: "uint256" },
    { name: "attestationId", type: "uint256" },
    { name: "userId", type: "bytes32" },
    { name: "asset", type: "address" },
    { name: "price", type: "uint256" },
    { name: "quantity", type: "uint256" },
    { name: "expiration", type: "uint256" },
    { name: "side", type: "uint8" },
    { name: "additionalData", type: "bytes32" }
  ]
} as const

const sign = ({ chain, price, quantity, side, token }: Quoted, attestationId: bigint, expiration: number) =>
  Effect.promise(() =>
    issuerSigner.signTypedData({
      domain: {
        name: "OndoGMTokenManager",
        version: "1",
        chainId: chain.chainId,
        verifyingContract: chain.contracts.issuerManager
      },
      types,
      primaryType: "Quote",
      message: {
        chainId: BigInt(chain.chainId),
        attestationId,
        userId: issuerUserId,
        asset: token.address,
        price,
        quantity,
        expiration: BigInt(expiration),
        side,
        additionalData: toHex(0, { size: 32 })
      }
    })
  )

/** `lying` signs a price that is a tenth worse than the one that it quotes. */
const priceOf = (
  chain: Chain,
  token: Token,
  { isLying, side }: { readonly side: 0 | 1; readonly isLying: boolean }
) => {
  const spread = spreadBps + (isLying ? 1_000n : 0n)
  return (chain.prices.price(token.assetId) * (side === 0 ? 10_000n + spread : 10_000n - spread)) / 10_000n
}

/** Routes of the stand-in. */
export const ondo = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const chains = yield* WorldChains
    const faults = yield* Faults
    const clock = yield* WorldClock
    const random = yield* SecureRandom.SecureRandom
    const { secrets } = yield* (yield* WorldFile).state
    const key = derivedSecret(secrets.internalToken)("ondo")

    const quotedOf = ({ chainId, side, symbol, tokenAmount }: Asked, isLying: boolean): Quoted | undefined => {
      const chain = chains.all.find((one) => issuerChainOf(one.catalog) === chainId)
      const token = chain?.tokens.find((one) => one.symbol === symbol && one.isAttested)
      if (chain === undefined || token === undefined) return undefined
      const code = side === "buy" ? 0 : 1
      return {
        chain,
        token,
        side: code,
        price: priceOf(chain, token, { side: code, isLying }),
        quantity: Decimal.parse(tokenAmount)!
      }
    }

    const answer = Effect.fnUntraced(function* (isSigned: boolean, isLying: boolean) {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (request.headers["x-api-key"] !== key) return answers.unauthorized
      const asked = yield* HttpServerRequest.schemaBodyJson(Body)
      const quoted = quotedOf(asked, isLying && isSigned)
      if (quoted === undefined) return problem(404, "ASSET_NOT_FOUND", "asset not found")
      if (quoted.quantity === 0n) return problem(400, "INVALID_TOKEN_AMOUNT", "token amount must be positive")
      if (!isSigned) return HttpServerResponse.jsonUnsafe(quoteFields(quoted))
      const { now } = yield* clock.read
      const expiration = Math.floor(now / 1000) + lifeOf[asked.duration ?? "short"]
      const attestationId = BigInt(`0x${HexCodec.encode(yield* random.randomBytes(16))}`)
      const signature = yield* sign(quoted, attestationId, expiration)
      return HttpServerResponse.jsonUnsafe({
        attestationId: `${attestationId}`,
        userId: issuerUserId,
        ...quoteFields(quoted),
        expiration,
        signature: Buffer.from(signature.slice(2), "hex").toString("base64"),
        additionalData: ""
      })
    })

    const serve = (isSigned: boolean) =>
      Effect.gen(function* () {
        const mode = yield* faults.take("ondo")
        if (mode === "closed") return problem(403, "MARKET_CLOSED", "market is closed")
        const answered = answer(isSigned, mode === "lying").pipe(
          Effect.catch(({ message }) => Effect.succeed(problem(400, "INVALID_REQUEST", message.slice(0, 500))))
        )
        return yield* withFaults(mode, answers, answered)
      })

    yield* router.add("POST", `${base}/attestations/soft`, serve(false))
    yield* router.add("POST", `${base}/attestations`, serve(true))
  })
).pipe(Layer.provide(SecureRandom.layerWebCrypto))
