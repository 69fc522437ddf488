/**
 * The calls that a permission lets pass, described: of the guard by its code, of a call policy by what the owner
 * signed.
 */
import { erc20Abi, getAbiItem, toFunctionSignature } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { AgentPolicy, Authorization, ChainAuthorization } from "#domain/account/Authorization.ts"
import type { AllowedCall } from "#domain/policy/ChainPolicy.ts"
import { addressOf, fromViem, evmPolicy } from "#layers/evm/address.ts"
import {
  kernelAbi,
  routedSwapAbi,
  routerAbi,
  spokePoolAbi,
  withdrawalExecutor,
  withdrawalExecutorAbi
} from "#layers/evm/contracts.ts"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"

type Allowed = Omit<AllowedCall, "permissionId">

const approve = toFunctionSignature(getAbiItem({ abi: erc20Abi, name: "approve" }))
const executor = fromViem(withdrawalExecutor)

const settle: Allowed = {
  target: executor,
  function: toFunctionSignature(getAbiItem({ abi: withdrawalExecutorAbi, name: "settle" })),
  rule: "The executor demands the owner's signature over recipient, assets, nonce and expiry."
}
const settleUnderGuard: Allowed = {
  ...settle,
  rule: `${settle.rule} It follows the sales of the same withdrawal, and pays what they bring and the signed amount.`
}

const underGuard = (guard: EvmAddress, account: EvmAddress): ReadonlyArray<Allowed> => [
  { target: null, function: approve, rule: `The spender is the guard ${guard}, which spends for its caller alone.` },
  {
    target: guard,
    function: toFunctionSignature(getAbiItem({ abi: tradeGuardAbi, name: "trade" })),
    rule: "Registered tokens and venues; each trade within the limit of a trade, all of them within loss budget and turnover."
  },
  {
    target: guard,
    function: toFunctionSignature(getAbiItem({ abi: tradeGuardAbi, name: "liquidate" })),
    rule: "The signed assets and amounts of a withdrawal, sold as in a trade for the registry's token to pay out."
  },
  {
    target: guard,
    function: toFunctionSignature(getAbiItem({ abi: tradeGuardAbi, name: "send" })),
    rule: "A registered bridge and destination, to the same account on the other chain or to whom the owner signed for it; what is lost counts as in a trade."
  },
  {
    target: guard,
    function: toFunctionSignature(getAbiItem({ abi: tradeGuardAbi, name: "setFees" })),
    rule: "Fees of trades, at most what the owner signed, to the recipients that the owner signed."
  },
  {
    target: guard,
    function: toFunctionSignature(getAbiItem({ abi: tradeGuardAbi, name: "tighten" })),
    rule: "The limits become tighter; never wider."
  },
  settleUnderGuard,
  {
    target: account,
    function: toFunctionSignature(getAbiItem({ abi: kernelAbi, name: "uninstallValidation" })),
    rule: "Removes another permission than this one from the account."
  }
]

const swapRule = (hops: string, tokens: ReadonlyArray<EvmAddress>) =>
  `The recipient is the account; ${hops}; the last token is one of ${tokens.length} listed ones. No limit on the price.`

const underCallPolicy = ({ bridge, connectorTokens, routedSwap, router, tokens }: AgentPolicy, settles: boolean) => {
  const spenders = [router, bridge?.contract, routedSwap].filter((spender) => spender !== undefined)
  const calls: ReadonlyArray<Allowed> = [
    { target: null, function: approve, rule: `The spender is one of ${spenders.join(", ")}.` },
    {
      target: router,
      function: toFunctionSignature(getAbiItem({ abi: routerAbi, name: "swapExactTokensForTokens" })),
      rule: swapRule("the path has two tokens", tokens)
    },
    ...(connectorTokens.length === 0
      ? []
      : [
          {
            target: router,
            function: toFunctionSignature(
              getAbiItem({ abi: routerAbi, name: "swapExactTokensForTokensSupportingFeeOnTransferTokens" })
            ),
            rule: swapRule(`the path has three tokens, the middle one of ${connectorTokens.join(", ")}`, tokens)
          }
        ]),
    ...(settles ? [settle] : []),
    ...(bridge === undefined
      ? []
      : [
          {
            target: bridge.contract,
            function: toFunctionSignature(getAbiItem({ abi: spokePoolAbi, name: "deposit" })),
            rule: `Token ${bridge.token}, to the same account on chain ${bridge.destinations.map(({ chainId }) => chainId).join(", ")}. No limit on what the bridge keeps.`
          }
        ]),
    ...(routedSwap === undefined
      ? []
      : [
          {
            target: routedSwap,
            function: toFunctionSignature(getAbiItem({ abi: routedSwapAbi, name: "swap" })),
            rule: `Into one of ${tokens.length} listed tokens, for no less than the venue pays.`
          }
        ])
  ]
  return calls
}

export const allowedCalls = (
  { withdrawalDomainName }: Pick<Authorization, "withdrawalDomainName">,
  chain: ChainAuthorization
): ReadonlyArray<AllowedCall> => {
  const { accountId, permissionId } = chain
  const policy = evmPolicy(chain)
  const calls =
    policy.guard === undefined
      ? underCallPolicy(policy, withdrawalDomainName !== null)
      : underGuard(policy.guard.contract, addressOf(accountId))
  return calls.map((call) => ({ permissionId, ...call }))
}
