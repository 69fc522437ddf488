/** A Solana chain with Jupiter in front of its pools, in this process, that counts the requests to both. */
import { PublicKey } from "@solana/web3.js"
import { Effect } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { solanaReference } from "#domain/values/Caip.ts"
import { swigProgram } from "#layers/solana/swig/addresses.ts"
import { splTokenOf } from "#sandbox/assets/splCatalog.ts"
import { answerRpc } from "#sandbox/solana/answerRpc.ts"
import { DelayedIntake } from "#sandbox/solana/DelayedIntake.ts"
import { Ledger } from "#sandbox/solana/Ledger.ts"
import { emulateJupiter } from "#sandbox/solana/market/emulateJupiter.ts"
import { installMarket } from "#sandbox/solana/market/installMarket.ts"
import { installMints } from "#sandbox/solana/market/issuer.ts"
import { buildSwap } from "#sandbox/solana/market/jupiterBuild.ts"
import { jupiterProgram } from "#sandbox/solana/market/jupiterRoute.ts"
import { rpcMethods } from "#sandbox/solana/rpcMethods.ts"
import { emulateSwig } from "#sandbox/solana/swig/Emulator.ts"

const slotMillis = 400
const genesisHash = `${solanaReference}pKuc147dw2N9d`

export interface SolanaChain {
  readonly ledger: Ledger
  readonly url: string
  /** HTTP requests by method, those to Jupiter as `jupiter`, since the last reset. */
  readonly counts: Map<string, number>
  /** Takes back what swaps did to the pools. */
  readonly restorePools: () => void
}

const bodyOf = async (request: IncomingMessage) => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

const built = (ledger: Ledger, url: string) => {
  const query = new URL(url, "http://127.0.0.1").searchParams
  const asked = {
    from: splTokenOf(query.get("inputMint")!)!,
    to: splTokenOf(query.get("outputMint")!)!,
    amount: BigInt(query.get("amount")!),
    slippageBps: Number(query.get("slippageBps")),
    taker: new PublicKey(query.get("taker")!),
    wrapAndUnwrapSol: query.get("wrapAndUnwrapSol") !== "false"
  }
  return JSON.stringify(buildSwap(ledger, asked, "ownAccounts"))
}

/** Makes a block every 400 milliseconds, and one for each transaction. */
export const startSolanaChain = Effect.gen(function* () {
  const ledger = new Ledger({
    now: () => BigInt(Math.floor(Date.now() / 1_000)),
    emulations: new Map([
      [jupiterProgram.toBase58(), emulateJupiter],
      [swigProgram.toBase58(), emulateSwig]
    ])
  })
  installMints(ledger)
  const restorePools = () => installMarket(ledger, ({ initialPriceUsd }) => initialPriceUsd)
  restorePools()
  const methods = rpcMethods(ledger, new DelayedIntake(ledger, () => "ok"), genesisHash)
  const counts = new Map<string, number>()
  const count = (method: string) => counts.set(method, (counts.get(method) ?? 0) + 1)
  const server = createServer((request, response) => {
    void (async () => {
      response.setHeader("content-type", "application/json")
      if (request.method === "GET") {
        count("jupiter")
        return response.end(built(ledger, request.url!))
      }
      const body = await bodyOf(request)
      count(/"method":"([A-Za-z]+)"/u.exec(body)?.[1] ?? "unknown")
      return response.end(JSON.stringify(answerRpc(methods, body)))
    })()
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))),
    () =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise<void>((done) => server.close(() => done()))
      })
  )
  yield* Effect.acquireRelease(
    Effect.sync(() => setInterval(() => ledger.advance(1n), slotMillis)),
    (blocks) => Effect.sync(() => clearInterval(blocks))
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { ledger, url, counts, restorePools } satisfies SolanaChain
})
