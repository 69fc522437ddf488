/**
 * The Solana chain's JSON-RPC as a provider would offer it, and Jupiter's swap API, with the faults that both have.
 * What becomes of transactions that the node takes is a switch of its own: they land, are lost, or land some slots
 * later.
 */
import { Effect, Option, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PublicKey } from "@solana/web3.js"
import { randomInt } from "node:crypto"
import * as Base58 from "#domain/values/Base58.ts"
import { solanaChainId } from "#domain/values/Caip.ts"
import { type FaultMode, Faults } from "#sandbox/faults/Faults.ts"
import { withFaults } from "#sandbox/faults/withFaults.ts"
import { answerRpc } from "#sandbox/solana/answerRpc.ts"
import { DelayedIntake, type Fate } from "#sandbox/solana/DelayedIntake.ts"
import { type BuildQuery, buildSwap } from "#sandbox/solana/market/jupiterBuild.ts"
import { routeForms } from "#sandbox/solana/market/jupiterRoute.ts"
import { splTokenOf } from "#sandbox/assets/splCatalog.ts"
import { rpcMethods } from "#sandbox/solana/rpcMethods.ts"
import { genesisHash, WorldSolana } from "#sandbox/solana/WorldSolana.ts"

const rpcProblem = (code: number, message: string, status: number) =>
  HttpServerResponse.jsonUnsafe({ jsonrpc: "2.0", id: null, error: { code, message } }, { status })

const rpcAnswers = {
  error: rpcProblem(-32603, "Internal error", 500),
  rateLimited: rpcProblem(429, "Too many requests for a specific RPC call", 429)
}

const jupiterProblem = (status: number, error: string, errorCode: string) =>
  HttpServerResponse.jsonUnsafe({ error, errorCode }, { status })

const jupiterAnswers = {
  error: jupiterProblem(500, "Internal server error", "INTERNAL_ERROR"),
  rateLimited: jupiterProblem(429, "Too many requests", "RATE_LIMITED")
}

const fateOf = new Map<FaultMode, Fate>([
  ["late", "late"],
  ["lost", "dropped"]
])

const Key = Schema.String.check(Schema.makeFilter((text) => Base58.isBytes32(text)))
const BuildParameters = Schema.Struct({
  inputMint: Key,
  outputMint: Key,
  taker: Key,
  amount: Schema.String.check(Schema.isPattern(/^[1-9][0-9]{0,19}$/u)),
  slippageBps: Schema.optionalKey(Schema.FiniteFromString.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))),
  wrapAndUnwrapSol: Schema.optionalKey(Schema.Literals(["true", "false"]))
})
const defaultSlippageBps = 50

/** `POST /rpc/1399811149`. */
const rpc = Effect.fnUntraced(function* (router: HttpRouter.HttpRouter) {
  const { ledger } = yield* WorldSolana
  const faults = yield* Faults
  // A node's methods run to their end at once, and so does the question what becomes of a transaction.
  const fate = (): Fate => fateOf.get(Effect.runSync(faults.take("landing"))) ?? "ok"
  const intake = new DelayedIntake(ledger, fate)
  const methods = rpcMethods(ledger, intake, genesisHash)
  const answer = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const text = yield* request.text
    return yield* Effect.sync(() => {
      intake.release()
      return HttpServerResponse.jsonUnsafe(answerRpc(methods, text))
    })
  })
  yield* router.add(
    "POST",
    `/rpc/${solanaChainId}`,
    Effect.flatMap(faults.take(`rpc:${solanaChainId}`), (mode) => withFaults(mode, rpcAnswers, answer))
  )
})

/** `GET /jupiter/swap/v2/build`. */
const jupiter = Effect.fnUntraced(function* (router: HttpRouter.HttpRouter) {
  const { ledger } = yield* WorldSolana
  const faults = yield* Faults
  const answer = Effect.gen(function* () {
    const query = yield* HttpServerRequest.schemaSearchParams(BuildParameters).pipe(Effect.option)
    if (Option.isNone(query)) return jupiterProblem(400, "Invalid query parameters", "INVALID_REQUEST")
    const { amount, inputMint, outputMint, slippageBps = defaultSlippageBps, taker, wrapAndUnwrapSol } = query.value
    const [from, to] = [splTokenOf(inputMint), splTokenOf(outputMint)]
    if (from === undefined || to === undefined) {
      return jupiterProblem(400, "The token is not tradable", "TOKEN_NOT_TRADABLE")
    }
    if (from === to) return jupiterProblem(400, "Input and output mints are the same", "CIRCULAR_ARBITRAGE_IS_DISABLED")
    const asked: BuildQuery = {
      from,
      to,
      amount: BigInt(amount),
      slippageBps,
      taker: new PublicKey(taker),
      wrapAndUnwrapSol: wrapAndUnwrapSol !== "false"
    }
    const built = buildSwap(ledger, asked, routeForms[randomInt(routeForms.length)]!)
    return built === undefined
      ? jupiterProblem(400, "Could not find any route", "COULD_NOT_FIND_ANY_ROUTE")
      : HttpServerResponse.jsonUnsafe(built)
  })
  yield* router.add(
    "GET",
    "/jupiter/swap/v2/build",
    Effect.flatMap(faults.take("jupiter"), (mode) => withFaults(mode, jupiterAnswers, answer))
  )
})

export const solanaRoutes = HttpRouter.use((router) => Effect.andThen(rpc(router), jupiter(router)))
