/**
 * Delivers what the vaults took to the other chain, after a while and less a fee, or does what the control API has set
 * instead: later, in another token, back to where it came from, or never. What a node refuses is sent until it is paid.
 */
import { Duration, Effect, Layer, Schedule } from "effect"
import { encodeFunctionData, type Hex } from "viem"
import { afterBridgeFee, bridgeVaultAbi, type Locked, locksSince, payoutOf } from "#sandbox/chain/bridgeVault.ts"
import type { Token } from "#sandbox/assets/catalog.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { type FaultMode, Faults } from "#sandbox/faults/Faults.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"

const checkInterval = Duration.millis(250)
const usualDelay = Duration.seconds(2)
const lateDelay = Duration.seconds(20)
/** Pauses between the tries to pay one lock. */
const retryPauses = Schedule.min([Schedule.exponential(Duration.millis(250)), Schedule.spaced(Duration.seconds(5))])

const send = (chain: Chain, what: string, data: Hex) =>
  operate(chain.client, { what, to: chain.contracts.bridge, data, gas: 1_000_000n })

/** Another token of the same worth, as a route that went wrong half way delivers it. */
const inEther = ({ catalog, prices }: Chain, amount: bigint): readonly [Token, bigint] => {
  const { usdc, weth } = catalog
  const worth = amount * prices.price(usdc.assetId) * 10n ** BigInt(weth.decimals)
  return [weth, worth / (prices.price(weth.assetId) * 10n ** BigInt(usdc.decimals))]
}

const release = (
  chain: Chain,
  { destinationToken, id, recipient }: Locked,
  { amount, isPartial }: { readonly amount: bigint; readonly isPartial: boolean }
) => {
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

    const isPaid = Effect.fnUntraced(function* (source: Chain, { destinationChainId, id }: Locked) {
      const destination = chains.find(Number(destinationChainId))
      return (
        (yield* payoutOf(source, "Refunded", id)) !== null ||
        (destination !== undefined && (yield* payoutOf(destination, "Released", id)) !== null)
      )
    })

    /**
     * Pays a lock unless it is paid: a try whose answer was lost may have paid it. What the minimum or the destination
     * forbids goes back, as a true bridge would have it.
     */
    const pay = Effect.fnUntraced(function* (source: Chain, lock: Locked, mode: FaultMode) {
      if (yield* isPaid(source, lock)) return
      const destination = chains.find(Number(lock.destinationChainId))
      const amount = afterBridgeFee(lock.amount)
      const token = destination?.tokens.find(({ address }) => address === lock.destinationToken)
      if (
        destination === undefined ||
        token !== destination.catalog.usdc ||
        amount < lock.minOut ||
        mode === "refunded"
      )
        return yield* refund(source, lock)
      yield* release(destination, lock, { amount, isPartial: mode === "partial" })
    })

    const retried = <A, E extends { readonly message: string }>(work: Effect.Effect<A, E>) =>
      work.pipe(
        Effect.tapError(({ message }) => Effect.logWarning(`The bridge tries again: ${message}`)),
        Effect.retry(retryPauses)
      )

    /** Each lock draws its mode once, however often it is tried. */
    const answer = Effect.fnUntraced(function* (source: Chain, lock: Locked) {
      if (yield* retried(isPaid(source, lock))) return
      const mode = yield* faults.take("bridge")
      if (mode === "never" || mode === "down") return
      yield* Effect.sleep(mode === "late" || mode === "slow" ? lateDelay : usualDelay)
      yield* retried(pay(source, lock, mode))
    })

    const follow = Effect.fnUntraced(function* (source: Chain) {
      let next = 0n
      const check = Effect.gen(function* () {
        const { head, locks } = yield* locksSince(source, next)
        next = head + 1n
        for (const lock of locks) {
          yield* Effect.forkScoped(answer(source, lock))
        }
      })
      yield* check.pipe(
        Effect.catch((failure) => Effect.logWarning(failure.message)),
        Effect.andThen(Effect.sleep(checkInterval)),
        Effect.forever,
        Effect.forkScoped
      )
    })

    yield* Effect.forEach(chains.all, follow, { discard: true })
  })
)
