/** A chain with a market and Jupiter in front of it, for tests of swaps. */
import { afterAll, beforeAll, beforeEach } from "@effect/vitest"
import { Keypair, type TransactionInstruction } from "@solana/web3.js"
import { Effect, Layer, Redacted, Result } from "effect"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { decodeMint } from "#layers/solana/token/Mint.ts"
import { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import type { prepareSwap } from "#layers/solana/trading/prepareSwap.ts"
import type { Emulation } from "#sandbox/solana/Emulation.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { emulateJupiter } from "#sandbox/solana/market/emulateJupiter.ts"
import { installMarket } from "#sandbox/solana/market/installMarket.ts"
import { installMints, issue } from "#sandbox/solana/market/issuer.ts"
import { jupiterProgram } from "#sandbox/solana/market/jupiterRoute.ts"
import type { StartChain } from "#test/layers/solana/eachSwig.ts"
import { type JupiterServer, startJupiter } from "#test/layers/solana/jupiterServer.ts"
import { enrollSolana, fees, newAgent } from "#test/layers/solana/owners.ts"
import type { TestChain } from "#test/sandbox/solana/support.ts"

export const dollars = 1_000_000_000n
const named = (symbol: string) => splCatalog.find((token) => token.symbol === symbol)!
export const [tesla, jup, sol] = [named("TSLAx"), named("JUP"), named("SOL")]

/** Made once for a suite; what is in it is there when its tests run. */
export const swapWorld = (start: StartChain) => {
  const world = {
    chain: undefined as unknown as TestChain,
    agent: undefined as unknown as ReturnType<typeof newAgent>,
    jupiter: undefined as unknown as JupiterServer,
    /** What Jupiter's program takes besides what it trades. */
    stolen: [] as ReadonlyArray<TransactionInstruction>
  }
  beforeAll(async () => {
    const robbing: Emulation = (instruction, context) => [...emulateJupiter(instruction, context), ...world.stolen]
    world.chain = await start(new Map([[jupiterProgram.toBase58(), robbing]]))
    world.agent = newAgent(world.chain)
    installMints(world.chain.ledger)
    installMarket(world.chain.ledger, ({ initialPriceUsd }) => initialPriceUsd)
    world.jupiter = await startJupiter(world.chain)
  })
  beforeEach(() => {
    world.jupiter.change = (built) => built
    world.jupiter.form = "ownAccounts"
    world.jupiter.asked = []
    world.stolen = []
  })
  afterAll(async () => {
    world.jupiter.close()
    await world.chain.close()
  })

  const run = <A, E>(effect: Effect.Effect<A, E, SolanaRpc | JupiterClient>) =>
    Effect.suspend(() =>
      Effect.provide(
        effect,
        Layer.merge(
          SolanaRpc.layer([Redacted.make(world.chain.url)]),
          JupiterClient.layer({ baseUrl: world.jupiter.url, apiKey: null, requestsPerSecond: 1_000 })
        )
      )
    )
  const mintOf = (token: SplToken) => {
    const { data, lamports } = world.chain.ledger.account(token.mint)!
    return Result.getOrThrow(decodeMint(token.mint, { data, lamports, owner: token.program }))
  }
  const tradeOf = (place: Parameters<typeof prepareSwap>[0]["place"], minBuyRaw = 1n) => ({
    place,
    leg: { sell: mintOf(usdc), buy: mintOf(tesla), sellRaw: dollars, minBuyRaw },
    slippageBps: 50,
    agent: world.agent,
    fees
  })
  const funded = Effect.gen(function* () {
    const enrolled = yield* enrollSolana(world.chain, world.agent, Keypair.generate())
    issue(world.chain.ledger, enrolled.deposit, { token: usdc, amountRaw: dollars })
    issue(world.chain.ledger, enrolled.deposit, { token: jup, amountRaw: 9n })
    return enrolled
  })
  return Object.assign(world, { run, mintOf, tradeOf, funded })
}
