import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { type Hex, parseEther } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import type * as Caip from "#domain/values/Caip.ts"
import { catalog, type Token } from "#sandbox/assets/catalog.ts"
import { type Chain, dumpState, setEther, startChain } from "#sandbox/chain/Chain.ts"
import * as Market from "#sandbox/chain/Market.ts"
import { attestorKey } from "#sandbox/chain/attestorKey.ts"
import { guardKeys } from "#sandbox/chain/canonical.ts"
import { PriceBook } from "#sandbox/assets/PriceBook.ts"
import { ProcessRegistry } from "#sandbox/process/ProcessRegistry.ts"
import { replaceFile } from "#sandbox/replaceFile.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"
import { WorldFile } from "#sandbox/WorldFile.ts"

const saveInterval = Duration.seconds(1)
/** A long history takes longer to save; saving never takes more than a tenth of the time. */
const saveShare = 10
const relayerEther = parseEther("100000")

/** The world's chains, saved to its folder while they run and once more when they end. */
export class WorldChains extends Context.Service<
  WorldChains,
  {
    readonly all: ReadonlyArray<Chain>
    readonly prices: PriceBook
    readonly find: (chainId: number) => Chain | undefined
    /** Moves pools and feed of a token to a price (US dollars, wad). */
    readonly setPrice: (chain: Chain, token: Token, priceUsd: bigint) => Effect.Effect<void, SandboxFailure>
    /** Brings every chain to the world's time in milliseconds. */
    readonly advanceTo: (millis: number) => Effect.Effect<void, SandboxFailure>
    /** Fails when a chain's process ends by itself. */
    readonly watch: Effect.Effect<never, SandboxFailure>
  }
>()("ballast/sandbox/chain/SandboxChains") {
  static readonly layer = Layer.effect(
    WorldChains,
    Effect.gen(function* () {
      const { dataDir, environment } = yield* WorldConfig
      const file = yield* WorldFile
      const clock = yield* WorldClock
      const registry = yield* ProcessRegistry
      const saved = yield* file.state
      const prices = new PriceBook(
        Object.entries(saved.prices).map(([assetId, points]) => [assetId as Caip.AssetId, points] as const)
      )
      const relayer = yield* relayerAddress(
        environment["RELAYER_PRIVATE_KEY"] ?? Redacted.value(saved.secrets.relayerPrivateKey)
      )
      const attestor = privateKeyToAddress(attestorKey(saved.secrets.internalToken))
      const all = yield* Effect.forEach(
        catalog,
        Effect.fnUntraced(function* ({ blockTimeMillis, chainId }) {
          const path = join(dataDir, "chains", `${chainId}.state`)
          const state = yield* readState(path)
          const chain = yield* startChain({
            chainId,
            prices,
            attestor,
            blockTimeMillis,
            ...(state === undefined ? {} : { state })
          })
          yield* registry.record(`chain ${chainId}`, chain.process.pid)
          yield* setEther(chain, relayer, relayerEther)
          yield* replaceFile(join(dataDir, "deployment", `${chainId}.json`), JSON.stringify(chain.file, null, 2))
          yield* keep(chain, path)
          return chain
        }),
        { concurrency: "unbounded" }
      )
      yield* catchUp(clock, all)
      yield* replaceFile(join(dataDir, "deployment", "keys.json"), JSON.stringify(guardKeys(attestor), null, 2))

      return WorldChains.of({
        all,
        prices,
        find: (chainId) => all.find((chain) => chain.chainId === chainId),
        setPrice: Effect.fn("WorldChains.setPrice")(function* (chain, token, priceUsd) {
          const { now } = yield* clock.read
          yield* Market.setPrice(chain, token, { priceUsd, at: now })
          yield* file.update((state) => ({ ...state, prices: Object.fromEntries(prices.entries()) }))
        }),
        advanceTo: (millis) =>
          Effect.forEach(all, (chain) => Market.advanceTo(chain, millis), { concurrency: "unbounded", discard: true }),
        watch: Effect.raceAll(
          all.map((chain) =>
            Effect.promise(() => chain.process.ended).pipe(
              Effect.flatMap((how) =>
                Effect.fail(
                  new SandboxFailure({
                    message: `The process of chain ${chain.chainId} ended (${how}). Start again: the sandbox goes on from its last saved state`
                  })
                )
              )
            )
          )
        )
      })
    })
  )
}

const relayerAddress = (key: string) =>
  Effect.try({
    try: () => privateKeyToAddress(key as Hex),
    catch: () =>
      new SandboxFailure({
        message:
          "RELAYER_PRIVATE_KEY is not a private key: expected 0x and 64 hexadecimal digits. Correct it or leave it out"
      })
  })

const readState = (path: string) =>
  Effect.tryPromise({
    try: () =>
      readFile(path, "utf8").then(
        (text) => text as Hex,
        (cause: NodeJS.ErrnoException) => {
          if (cause.code === "ENOENT") return undefined
          throw cause
        }
      ),
    catch: (cause) => new SandboxFailure({ message: `Could not read ${path}. Start once with --reset`, cause })
  })

/** Saves a chain whenever it has new blocks, and when the scope closes, which is before its process ends. */
const keep = Effect.fnUntraced(function* (chain: Chain, path: string) {
  let savedBlock = -1n
  const save = Effect.gen(function* () {
    const block = yield* Effect.tryPromise({
      try: () => chain.client.getBlockNumber(),
      catch: (cause) => new SandboxFailure({ message: `Chain ${chain.chainId} does not answer`, cause })
    })
    if (block === savedBlock) return
    yield* replaceFile(path, yield* dumpState(chain))
    savedBlock = block
  })
  yield* save
  yield* Effect.addFinalizer(() =>
    save.pipe(
      Effect.catch((failure) => Effect.logError(`The end of chain ${chain.chainId} was not saved: ${failure.message}`))
    )
  )
  yield* Effect.timed(save).pipe(
    Effect.flatMap(([took]) => Effect.sleep(Duration.max(saveInterval, Duration.times(took, saveShare)))),
    Effect.catch((failure) => Effect.logWarning(failure.message).pipe(Effect.andThen(Effect.sleep(saveInterval)))),
    Effect.forever,
    Effect.forkScoped
  )
})

/** A world that was killed between a chain's move and the clock's has chains ahead of it: time never goes back. */
const catchUp = Effect.fnUntraced(function* (clock: WorldClock["Service"], chains: ReadonlyArray<Chain>) {
  const latest = yield* Effect.tryPromise({
    try: () => Promise.all(chains.map(async (chain) => Number((await chain.client.getBlock()).timestamp) * 1000)),
    catch: (cause) => new SandboxFailure({ message: "The chains do not answer", cause })
  })
  const { now } = yield* clock.read
  const behind = Math.max(...latest) - now
  // A block's second may begin before the millisecond that asks for it ends.
  if (behind > 1000) yield* clock.advance(behind)
  const { now: agreed } = yield* clock.read
  yield* Effect.forEach(chains, (chain) => Market.advanceTo(chain, agreed), { concurrency: "unbounded", discard: true })
})
