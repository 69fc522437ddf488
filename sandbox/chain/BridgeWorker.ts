/**
 * Fills what the pools took on the other chain, after a while, or does what the control API has set
 * instead: later, in another token, back to where it came from, or never. What a node refuses is sent until it is paid.
 */
import { Duration, Effect, Layer, Schedule } from "effect"
import { type Address, encodeFunctionData, type Hex, isAddressEqual } from "viem"
import {
  afterBridgeFee,
  type Deposit,
  depositsSince,
  fillData,
  fillInsteadData,
  payoutOf,
  spokePoolAbi
} from "#sandbox/chain/spokePool.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { type FaultMode, Faults } from "#sandbox/faults/Faults.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"

const checkInterval = Duration.millis(250)
const usualDelay = Duration.seconds(2)
const lateDelay = Duration.seconds(20)
/** Pauses between the tries to pay one deposit. */
const retryPauses = Schedule.min([Schedule.exponential(Duration.millis(250)), Schedule.spaced(Duration.seconds(5))])

const send = (chain: Chain, what: string, data: Hex) =>
  operate(chain.client, { what, to: chain.contracts.bridge, data, gas: 1_000_000n })

/** Another token of the same worth, as a route that went wrong half way delivers it. */
const inEther = ({ catalog, prices }: Chain, amount: bigint): readonly [Address, bigint] => {
  const { usdc, weth } = catalog
  const worth = amount * prices.price(usdc.assetId) * 10n ** BigInt(weth.decimals)
  return [weth.address, worth / (prices.price(weth.assetId) * 10n ** BigInt(usdc.decimals))]
}

const fill = (chain: Chain, deposit: Deposit, isPartial: boolean) => {
  const data = isPartial ? fillInsteadData(deposit, ...inEther(chain, deposit.outputAmount)) : fillData(deposit)
  return send(chain, `fill deposit ${deposit.depositId} of ${deposit.originChainId}`, data)
}

const refund = (chain: Chain, { depositId }: Deposit) =>
  send(
    chain,
    `refund deposit ${depositId}`,
    encodeFunctionData({ abi: spokePoolAbi, functionName: "refund", args: [depositId] })
  )

export const BridgeWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const chains = yield* WorldChains
    const faults = yield* Faults

    const isPaid = Effect.fnUntraced(function* (source: Chain, deposit: Deposit) {
      const destination = chains.find(Number(deposit.destinationChainId))
      return (
        (yield* payoutOf(source, "Refunded", deposit)) !== null ||
        (destination !== undefined && (yield* payoutOf(destination, "Filled", deposit)) !== null)
      )
    })

    /**
     * Pays a deposit unless it is paid: a try whose answer was lost may have paid it. What asks for more than the
     * bridge's price leaves, or for another token than USDC, goes back, as nobody would fill it on a true bridge.
     */
    const pay = Effect.fnUntraced(function* (source: Chain, deposit: Deposit, mode: FaultMode) {
      if (yield* isPaid(source, deposit)) return
      const destination = chains.find(Number(deposit.destinationChainId))
      const token = destination?.tokens.find(({ address }) => isAddressEqual(address, deposit.destinationToken))
      if (
        destination === undefined ||
        token !== destination.catalog.usdc ||
        deposit.outputAmount > afterBridgeFee(deposit.amount) ||
        mode === "refunded"
      )
        return yield* refund(source, deposit)
      yield* fill(destination, deposit, mode === "partial")
    })

    const retried = <A, E extends { readonly message: string }>(work: Effect.Effect<A, E>) =>
      work.pipe(
        Effect.tapError(({ message }) => Effect.logWarning(`The bridge tries again: ${message}`)),
        Effect.retry(retryPauses)
      )

    /** Each deposit draws its mode once, however often it is tried. */
    const answer = Effect.fnUntraced(function* (source: Chain, deposit: Deposit) {
      if (yield* retried(isPaid(source, deposit))) return
      const mode = yield* faults.take("bridge")
      if (mode === "never" || mode === "down") return
      yield* Effect.sleep(mode === "late" || mode === "slow" ? lateDelay : usualDelay)
      yield* retried(pay(source, deposit, mode))
    })

    const follow = Effect.fnUntraced(function* (source: Chain) {
      let next = 0n
      const check = Effect.gen(function* () {
        const { deposits, head } = yield* depositsSince(source, next)
        next = head + 1n
        for (const deposit of deposits) {
          yield* Effect.forkScoped(answer(source, deposit))
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
