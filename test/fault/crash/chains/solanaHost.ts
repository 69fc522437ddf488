/** A Solana chain that outlives the services that crash, and makes portfolios on it when it is asked for one. */
import { Keypair } from "@solana/web3.js"
import { Effect, type Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { installMints, issue } from "#sandbox/solana/market/issuer.ts"
import { usdc } from "#sandbox/assets/splCatalog.ts"
import { emulateJupiter } from "#sandbox/solana/market/emulateJupiter.ts"
import { jupiterProgram } from "#sandbox/solana/market/jupiterRoute.ts"
import { installMarket } from "#sandbox/solana/market/installMarket.ts"
import { startJupiter } from "#test/layers/solana/jupiterServer.ts"
import type { ChainsConfig, SolanaPortfolio } from "#test/fault/crash/chains/ChainsConfig.ts"
import { enrollSolana, newAgent, onChain } from "#test/layers/solana/owners.ts"
import { startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

/** A block is final after 32 of these, and a blockhash is too old after 150. */
const slotMillis = 20

/** What a portfolio holds, so little that trades of many portfolios one after another leave the price where it was. */
const heldRaw = 100_000_000n

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const makePortfolio = async (chain: TestChain, agent: ReturnType<typeof newAgent>): Promise<SolanaPortfolio> => {
  const owner = Keypair.generate()
  const { deposit, place } = await Effect.runPromise(onChain(chain)(enrollSolana(chain, agent, owner)))
  issue(chain.ledger, deposit, { token: usdc, amountRaw: heldRaw })
  return {
    ownerSeed: hex(owner.secretKey.slice(0, 32)),
    owner: owner.publicKey.toBase58(),
    deposit: deposit.toBase58(),
    agent: agent.key.toBase58(),
    walletId: `0x${hex(place.walletId)}`,
    roleId: place.roleId
  }
}

interface SolanaHost {
  readonly config: ChainsConfig["solana"]
  /** Takes back what swaps did to the pools. */
  readonly restorePools: Effect.Effect<void>
}

export const solanaHost: Effect.Effect<SolanaHost, never, Scope.Scope> = Effect.gen(function* () {
  const chain = yield* Effect.acquireRelease(
    Effect.promise(() => startTestChain({ emulations: new Map([[jupiterProgram.toBase58(), emulateJupiter]]) })),
    ({ close }) => Effect.promise(close)
  )
  installMints(chain.ledger)
  const restorePools = Effect.sync(() => installMarket(chain.ledger, ({ initialPriceUsd }) => initialPriceUsd))
  yield* restorePools
  const jupiter = yield* Effect.acquireRelease(
    Effect.promise(() => startJupiter(chain)),
    ({ close }) => Effect.sync(close)
  )
  const agent = newAgent(chain)
  yield* Effect.acquireRelease(
    Effect.sync(() => setInterval(() => chain.ledger.advance(1n), slotMillis)),
    (blocks) => Effect.sync(() => clearInterval(blocks))
  )
  const server = createServer((_, response) => {
    makePortfolio(chain, agent).then(
      (portfolio) => response.end(JSON.stringify(portfolio)),
      (cause) => response.writeHead(500).end(String(cause))
    )
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))),
    () => Effect.promise(() => new Promise<void>((done) => server.close(() => done())))
  )
  const config = {
    rpcUrl: chain.url,
    jupiterUrl: jupiter.url,
    portfoliosUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    agentSeed: hex(agent.pair.secretKey.slice(0, 32))
  }
  return { config, restorePools }
})
