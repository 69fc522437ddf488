/** Tests when there is nothing to do for a portfolio, and nothing to report. */
import { assert, describe, it } from "@effect/vitest"
import type { PlanInput } from "#domain/planning/Plan.ts"
import { isOnTarget } from "#domain/planning/isOnTarget.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import {
  base,
  chain,
  held,
  input,
  mainnet,
  mainnetUsdc,
  spare,
  usd,
  usdc,
  weth
} from "#test/domain/planning/examples.ts"

const halves = [
  [usdc, 50],
  [weth, 50]
] as const

const onTarget = (planInput: PlanInput) => isOnTarget(planInput, plan(planInput))
const ofOneChain = (...holdings: Parameters<typeof chain>[0]) => onTarget(input([chain(holdings)], halves))

/** Dollars on two chains with a target of half each; `connected` says whether they can be moved. */
const twoChains = (
  { onBase, onMainnet }: { readonly onBase: number; readonly onMainnet: number },
  connected: boolean,
  incoming = 0
) => {
  const planInput = input(
    [
      chain([held(usdc, onBase)], base),
      chain([held(mainnetUsdc, onMainnet, { incomingRaw: BigInt(incoming) * 1_000_000n })], mainnet)
    ],
    [
      [usdc, 50],
      [mainnetUsdc, 50]
    ]
  )
  const assets = new Map(
    connected
      ? ([
          [base, usdc],
          [mainnet, mainnetUsdc]
        ] as const)
      : []
  )
  return onTarget({ ...planInput, transfers: { assets, feeBps: 10, minUsd: usd("50") } })
}

describe("isOnTarget", () => {
  it("is true on target, and off it by less than the threshold", () => {
    assert.isTrue(ofOneChain(held(usdc, 500), held(weth, 500)))
    assert.isTrue(ofOneChain(held(usdc, 504), held(weth, 496)))
  })

  it("is false as soon as there is a trade to make", () => {
    assert.isFalse(ofOneChain(held(usdc, 520), held(weth, 480)))
    assert.isFalse(ofOneChain(held(usdc, 500), held(weth, 500), held(spare, 100)))
    assert.isFalse(ofOneChain(held(usdc, 1_000)))
  })

  it("is false off target where no trade can be made, since a run reports why", () => {
    assert.isFalse(ofOneChain(held(usdc, 700, { isBlocked: true }), held(weth, 300)))
    assert.isFalse(ofOneChain(held(usdc, 500, { foreignAuthority: "thief" }), held(weth, 500)))
    assert.isFalse(ofOneChain(held(usdc, 700), held(weth, 300, { isAuthorized: false })))
    assert.isFalse(twoChains({ onBase: 800, onMainnet: 200 }, false))
  })

  it("is false while anything that counts is not known", () => {
    const balanced = [held(usdc, 500), held(weth, 500)] as const
    assert.isFalse(onTarget(input([{ ...chain(balanced), available: false }], halves)))
    assert.isFalse(ofOneChain(...balanced, held(spare, 1, { priceUsd: null })))
    assert.isFalse(ofOneChain(held(usdc, 500), held(weth, 500, { priceUsd: null })))
    assert.isFalse(ofOneChain(held(usdc, 500), held(weth, 500, { priceUsd: 0n })))
    assert.isFalse(ofOneChain(held(usdc, 500), held(weth, 500, { priceIsStale: true })))
  })

  it("is true of an empty portfolio, whatever the prices are, but not when it may only seem empty", () => {
    assert.isTrue(ofOneChain(held(usdc, 0), held(weth, 0, { priceUsd: null })))
    assert.isTrue(ofOneChain())
    assert.isFalse(onTarget(input([{ ...chain([]), available: false }], halves)))
    const arriving = held(usdc, 0, { incomingRaw: 1_000_000_000n })
    assert.isFalse(ofOneChain(arriving, held(weth, 0, { priceUsd: null })))
  })

  it("counts what is on its way, and leaves what is not worth a transfer", () => {
    assert.isFalse(twoChains({ onBase: 800, onMainnet: 200 }, true))
    assert.isTrue(twoChains({ onBase: 500, onMainnet: 200 }, true, 300))
    assert.isTrue(twoChains({ onBase: 520, onMainnet: 480 }, true))
  })
})
