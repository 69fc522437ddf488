/**
 * Whether a route that a client quoted is a swap on one chain, out of the portfolio's account and back into it, and
 * is consistent in all its fields. Pure; each fault as `field: reason`.
 */
import type { ReadRoute } from "#domain/order/RouteExtended.ts"
import type { QuotedByClient } from "#domain/order/OrderRequest.ts"
import type { Address } from "#domain/values/Caip.ts"

type Step = ReadRoute["steps"][number]
type Check = readonly [field: string, isRight: boolean, reason: string]

/** `expectedVaultChainId` and `sameChainOnly`, and what no route may do whatever the client expects. */
const chainChecks = (route: ReadRoute, { chainId, constraints }: QuotedByClient): ReadonlyArray<Check> => {
  const { expectedVaultChainId, sameChainOnly } = constraints
  const several = sameChainOnly
    ? "must be the chain of the swap, as sameChainOnly requires"
    : "routes between chains are not taken"
  return [
    ["route.fromChainId", route.fromChainId === chainId, `must be params.chainId, ${chainId}`],
    ["route.toChainId", route.toChainId === chainId, several],
    ["route.fromToken.chainId", route.fromToken.chainId === chainId, `must be ${chainId}`],
    ["route.toToken.chainId", route.toToken.chainId === chainId, `must be ${chainId}`],
    [
      "executionConstraints.expectedVaultChainId",
      expectedVaultChainId === null || expectedVaultChainId === chainId,
      `the route runs on ${chainId}`
    ]
  ]
}

const routeChecks = (route: ReadRoute, account: Address): ReadonlyArray<Check> => [
  ["route.fromAddress", (route.fromAddress ?? account) === account, `must be the portfolio's account, ${account}`],
  ["route.toAddress", (route.toAddress ?? account) === account, `must be the portfolio's account, ${account}`],
  ["route.fromAmount", BigInt(route.fromAmount) > 0n, "must be above zero"],
  ["route.toAmountMin", BigInt(route.toAmountMin) > 0n, "must be above zero"],
  ["route.toAmountMin", BigInt(route.toAmountMin) <= BigInt(route.toAmount), "must not be above toAmount"],
  ["route.toToken.address", route.toToken.address !== route.fromToken.address, "must be another token than is sold"],
  ["route.steps", route.steps.length === 1, `must be one step; the route has ${route.steps.length}`]
]

const stepChecks = (
  route: ReadRoute,
  { action, estimate, execution }: Step,
  account: Address
): ReadonlyArray<Check> => {
  const at = "route.steps.0"
  const isSame = (one: string, other: string) => one === other
  const begun = (execution?.process?.length ?? 0) + (execution?.actions?.length ?? 0)
  const differs = "differs from the route's"
  return [
    [`${at}.action.fromChainId`, action.fromChainId === route.fromChainId, differs],
    [`${at}.action.toChainId`, action.toChainId === route.toChainId, differs],
    [`${at}.action.fromToken.address`, isSame(action.fromToken.address, route.fromToken.address), differs],
    [`${at}.action.fromToken.chainId`, action.fromToken.chainId === route.fromChainId, differs],
    [`${at}.action.toToken.address`, isSame(action.toToken.address, route.toToken.address), differs],
    [`${at}.action.toToken.chainId`, action.toToken.chainId === route.toChainId, differs],
    [`${at}.action.fromAmount`, BigInt(action.fromAmount) === BigInt(route.fromAmount), differs],
    [
      `${at}.action.fromAddress`,
      (action.fromAddress ?? account) === account,
      `must be the portfolio's account, ${account}`
    ],
    [
      `${at}.action.toAddress`,
      (action.toAddress ?? account) === account,
      `must be the portfolio's account, ${account}`
    ],
    [`${at}.estimate.fromAmount`, BigInt(estimate.fromAmount) === BigInt(route.fromAmount), differs],
    [`${at}.estimate.toAmount`, BigInt(estimate.toAmount) === BigInt(route.toAmount), differs],
    [`${at}.estimate.toAmountMin`, BigInt(estimate.toAmountMin) === BigInt(route.toAmountMin), differs],
    [`${at}.execution`, begun === 0, "is under way already; quote anew"]
  ]
}

/** Lines for the error's details; none when the route is right. `account` is the portfolio's on the chain. */
export const routeFaults = (request: QuotedByClient, account: Address): ReadonlyArray<string> => {
  const { read } = request.route
  const [step] = read.steps
  const checks = [
    ...chainChecks(read, request),
    ...routeChecks(read, account),
    ...(step === undefined ? [] : stepChecks(read, step, account))
  ]
  return checks.flatMap(([field, isRight, reason]) => (isRight ? [] : [`params.${field}: ${reason}`]))
}
