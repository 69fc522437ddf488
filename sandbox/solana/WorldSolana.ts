/**
 * The world's Solana chain: a ledger with tokens and pools, saved to the world's folder while it runs and once more
 * when it ends. It makes a block every 400 ms, and its clock is the world's.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import type { PublicKey } from "@solana/web3.js"
import { readFile } from "node:fs/promises"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { solanaChainId, solanaReference } from "#domain/values/Caip.ts"
import { swigProgram } from "#layers/solana/swig/addresses.ts"
import { replaceFile } from "#sandbox/replaceFile.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"
import { Ledger } from "#sandbox/solana/Ledger.ts"
import { emulateJupiter } from "#sandbox/solana/market/emulateJupiter.ts"
import { installMints, issue, issueLamports } from "#sandbox/solana/market/issuer.ts"
import { jupiterProgram } from "#sandbox/solana/market/jupiterRoute.ts"
import { type SplToken, usdc } from "#sandbox/assets/splCatalog.ts"
import { installMarket } from "#sandbox/solana/market/installMarket.ts"
import { movePool } from "#sandbox/solana/market/splPools.ts"
import { solanaAgent } from "#sandbox/solana/solanaAgent.ts"
import { emulateSwig } from "#sandbox/solana/swig/Emulator.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"
import { WorldFile } from "#sandbox/WorldFile.ts"

/** What the service's agent has for fees and rents when a world starts: 100 SOL. */
const agentLamports = 100_000_000_000n
const slotMillis = 400
const saveInterval = Duration.seconds(1)
/** A long jump of the clock makes no more blocks than outlast every blockhash. */
const longestJump = 512n

/** The genesis hash of the main network, whose first 32 characters are the chain's CAIP-2 reference. */
export const genesisHash = `${solanaReference}pKuc147dw2N9d`

export class WorldSolana extends Context.Service<
  WorldSolana,
  {
    readonly ledger: Ledger
    /** What runs Swig wallets: `emulated`, or `program sha256:...` of the program that the operator gave. */
    readonly swig: string
    readonly price: (token: SplToken) => bigint
    /** Moves a token's pool and its price (US dollars of a shown unit, wad). */
    readonly setPrice: (token: SplToken, priceUsd: bigint) => Effect.Effect<void, SandboxFailure>
    /** Gives raw units of a token, or lamports, to an account; answers the transaction's signature. */
    readonly issue: (
      token: SplToken | "lamports",
      owner: PublicKey,
      amountRaw: bigint
    ) => Effect.Effect<string, SandboxFailure>
    /** Makes blocks after the world's clock was moved by milliseconds. */
    readonly advance: (millis: number) => Effect.Effect<void>
  }
>()("ballast/sandbox/solana/WorldSolana") {
  static readonly layer = Layer.effect(
    WorldSolana,
    Effect.gen(function* () {
      const { dataDir, environment } = yield* WorldConfig
      const file = yield* WorldFile
      const clock = yield* WorldClock
      const { prices } = yield* WorldChains
      const program = yield* swigProgramOf(environment["SWIG_PROGRAM_SO"])
      const path = join(dataDir, "chains", `${solanaChainId}.state`)
      const saved = yield* readBytes(path)

      // Programs ask for the time in the middle of a transaction, where nothing can wait.
      const { now } = yield* clock.read
      let offset = now - (yield* Clock.currentTimeMillis)
      const clockOfProcess = yield* Clock.Clock
      const ledger = new Ledger(
        {
          now: () => BigInt(Math.floor((clockOfProcess.currentTimeMillisUnsafe() + offset) / 1_000)),
          emulations: new Map([
            [jupiterProgram.toBase58(), emulateJupiter],
            ...(program === undefined ? [[swigProgram.toBase58(), emulateSwig] as const] : [])
          ]),
          ...(program === undefined ? {} : { swigProgram: program })
        },
        saved
      )
      const agent = solanaAgent((yield* file.state).secrets.internalToken).publicKey
      const price = ({ assetId }: SplToken) => prices.price(assetId)
      yield* attempt(() => {
        installMints(ledger)
        installMarket(ledger, price)
        if ((ledger.account(agent)?.lamports ?? 0n) < agentLamports) issueLamports(ledger, agent, agentLamports)
      })
      yield* keep(ledger, path)
      yield* Effect.sync(() => ledger.advance(1n)).pipe(
        Effect.delay(Duration.millis(slotMillis)),
        Effect.forever,
        Effect.forkScoped
      )

      return WorldSolana.of({
        ledger,
        swig:
          program === undefined ? "emulated" : `program sha256:${createHash("sha256").update(program).digest("hex")}`,
        price,
        setPrice: Effect.fn("WorldSolana.setPrice")(function* (token, priceUsd) {
          if (token !== usdc) yield* attempt(() => movePool(ledger, token, priceUsd))
          prices.set(token.assetId, priceUsd, (yield* clock.read).now)
          yield* file.update((state) => ({ ...state, prices: Object.fromEntries(prices.entries()) }))
        }),
        issue: (token, owner, amountRaw) =>
          attempt(() =>
            token === "lamports" ? issueLamports(ledger, owner, amountRaw) : issue(ledger, owner, { token, amountRaw })
          ),
        advance: (millis) =>
          Effect.sync(() => {
            offset += millis
            const slots = BigInt(Math.ceil(millis / slotMillis))
            ledger.advance(slots < longestJump ? slots : longestJump)
          })
      })
    })
  )
}

const attempt = <A>(work: () => A) =>
  Effect.try({
    try: work,
    catch: (cause) => new SandboxFailure({ message: "The Solana chain refused what the sandbox did", cause })
  })

const readBytes = (path: string) =>
  Effect.tryPromise({
    try: () =>
      readFile(path).then(
        (bytes) => Uint8Array.from(bytes),
        (cause: NodeJS.ErrnoException) => {
          if (cause.code === "ENOENT") return undefined
          throw cause
        }
      ),
    catch: (cause) => new SandboxFailure({ message: `Could not read ${path}. Start once with --reset`, cause })
  })

const swigProgramOf = (path: string | undefined) =>
  path === undefined
    ? Effect.succeed(undefined)
    : Effect.tryPromise({
        try: () => readFile(path).then((bytes) => Uint8Array.from(bytes)),
        catch: (cause) =>
          new SandboxFailure({
            message: `SWIG_PROGRAM_SO names ${path}, which cannot be read. Correct it, or leave it out for the emulator`,
            cause
          })
      })

/** Saves the ledger after changes, and when the scope closes. */
const keep = Effect.fnUntraced(function* (ledger: Ledger, path: string) {
  let savedAt = -1n
  const save = Effect.suspend(() => {
    const { changes } = ledger
    if (changes === savedAt) return Effect.void
    return Effect.tap(replaceFile(path, ledger.save()), () => Effect.sync(() => void (savedAt = changes)))
  })
  yield* save
  yield* Effect.addFinalizer(() => Effect.catch(save, (failure) => Effect.logError(failure.message)))
  yield* save.pipe(
    Effect.catch((failure) => Effect.logWarning(failure.message)),
    Effect.delay(saveInterval),
    Effect.forever,
    Effect.forkScoped
  )
})
