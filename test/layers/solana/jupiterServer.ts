/** Jupiter over HTTP for a test chain: what it builds may be changed before it is answered. */
import { PublicKey } from "@solana/web3.js"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { buildSwap } from "#sandbox/solana/market/jupiterBuild.ts"
import type { RouteForm } from "#sandbox/solana/market/jupiterRoute.ts"
import { splTokenOf } from "#sandbox/assets/splCatalog.ts"
import type { TestChain } from "#test/sandbox/solana/support.ts"

export type Built = NonNullable<ReturnType<typeof buildSwap>>

export interface JupiterServer {
  readonly url: string
  /** What is answered in place of what was built; undefined: status 503. */
  change: (built: Built) => unknown
  /** The form of the routes that are built. */
  form: RouteForm
  /** The questions so far. */
  asked: Array<URLSearchParams>
  readonly close: () => void
}

export const startJupiter = async (chain: TestChain): Promise<JupiterServer> => {
  const state: Pick<JupiterServer, "change" | "form" | "asked"> = {
    change: (built) => built,
    form: "ownAccounts",
    asked: []
  }
  const server = createServer((request, response) => {
    const query = new URL(request.url!, "http://127.0.0.1").searchParams
    state.asked.push(query)
    const asked = {
      from: splTokenOf(query.get("inputMint")!)!,
      to: splTokenOf(query.get("outputMint")!)!,
      amount: BigInt(query.get("amount")!),
      slippageBps: Number(query.get("slippageBps")),
      taker: new PublicKey(query.get("taker")!),
      wrapAndUnwrapSol: query.get("wrapAndUnwrapSol") !== "false"
    }
    const answer = state.change(buildSwap(chain.ledger, asked, state.form)!)
    response.statusCode = answer === undefined ? 503 : 200
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify(answer ?? {}))
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  })
}
