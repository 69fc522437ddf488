/**
 * Carries what the vaults took to the other chain, after a while and less a fee, or does what the world was told to do
 * instead: later, in another token, back to where it came from, or never.
 */
import { Duration, Effect, Layer } from "effect"
import { encodeFunctionData, type Hex } from "viem"
import { afterBridgeFee, bridgeVaultAbi, type Locked, locksSince, payoutOf } from "#sandbox/bridgeVault.ts"
import type { Token } from "#sandbox/catalog.ts"
import type { Chain } from "#sandbox/Chain.ts"
import { Faults } from "#sandbox/Faults.ts"
import { operate } from "#sandbox/operate.ts"
import { WorldChains } from "#sandbox/WorldChains.ts"

const lookEvery = Duration.millis(250)
const usualDelay = Duration.seconds(2)
const lateDelay = Duration.seconds(20)

const send = (chain: Chain, what: string, data: Hex) =>
  operate(chain.client, { what, to: chain.contracts.bridge, data, gas: 1_000_000n })

/** Another token of the same worth, as a route that went wrong half way delivers it. */
const inEther = ({ catalog, prices }: Chain, amount: bigint): readonly [Token, bigint] => {
  const { usdc, weth } = catalog
  const worth = amount * prices.price(usdc.assetId) * 10n ** BigInt(weth.decimals)
  return [weth, worth / (prices.price(weth.assetId) * 10n ** BigInt(usdc.decimals))]
}

const release = (chain: Chain, { destinationToken, id, recipient }: Locked, amount: bigint, isPartial: boolean) => {
  const [token, raw] = isPartial ? inEther(chain, amount) : [{ address: destinationToken }, amount]
  return send(
    chain,
    `release ${id}`,
    encodeFunctionData({ abi: bridgeVaultAbi, functionName: "release", args: [id, token.address, raw, recipient] })
  )
}

const refund = (chain: Chain, { id }: Locked) =>
  send(chain, `refund ${id}`, encodeFunctionData({ abi: bridgeVaultAbi, functionName: "refund", args: [id] }))

export const BridgeWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const chains = yield* WorldChains
    const faults = yield* Faults

    /** What the floor or the destination forbids goes back, as a true bridge would have it. */
    const answer = Effect.fnUntraced(function* (source: Chain, lock: Locked) {
      const destination = chains.find(Number(lock.destinationChainId))
      const isAnswered =
        (yield* payoutOf(source, "Refunded", lock.id)) !== null ||
        (destination !== undefined && (yield* payoutOf(destination, "Released", lock.id)) !== null)
      if (isAnswered) return
      const mode = yield* faults.take("bridge")
      if (mode === "never" || mode === "down") return
      yield* Effect.sleep(mode === "late" || mode === "slow" ? lateDelay : usualDelay)
      const amount = afterBridgeFee(lock.amount)
      const token = destination?.tokens.find(({ address }) => address === lock.destinationToken)
      if (
        destination === undefined ||
        token !== destination.catalog.usdc ||
        amount < lock.minOut ||
        mode === "refunded"
      )
        return yield* refund(source, lock)
      yield* release(destination, lock, amount, mode === "partial")
    })

    const follow = Effect.fnUntraced(function* (source: Chain) {
      let next = 0n
      const look = Effect.gen(function* () {
        const { head, locks } = yield* locksSince(source, next)
        next = head + 1n
        for (const lock of locks) {
          yield* answer(source, lock).pipe(
            Effect.catch((failure) => Effect.logError(`The bridge failed: ${failure.message}`)),
            Effect.forkScoped
          )
        }
      })
      yield* look.pipe(
        Effect.catch((failure) => Effect.logWarning(failure.message)),
        Effect.andThen(Effect.sleep(lookEvery)),
        Effect.forever,
        Effect.forkScoped
      )
    })

    yield* Effect.forEach(chains.all, follow, { discard: true })
  })
)
