/** Routed swaps as an account makes them, over routes that are honest or not. */
import { Effect } from "effect"
import { createRequire } from "node:module"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import {
  type Abi,
  type Address,
  type BaseError,
  ContractFunctionRevertedError,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  type LocalAccount,
  zeroAddress,
  zeroHash
} from "viem"
import { routedSwapAbi } from "#layers/evm/contracts.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { routePoolsAbi } from "#sandbox/chain/routePools.ts"
import { lifiDiamondAbi } from "#layers/routing/lifi/checkSwap.ts"

export interface Terms {
  readonly sell: Address
  readonly amount: bigint
  readonly buy: Address
  readonly minOut: bigint
  readonly hub: Address
  readonly deadline: bigint
}

export interface SwapData {
  readonly callTo: Address
  readonly approveTo: Address
  readonly sendingAssetId: Address
  readonly receivingAssetId: Address
  readonly fromAmount: bigint
  readonly callData: Hex
  readonly requiresDeposit: boolean
}

export const never = 10n ** 12n

export const addressOf = (chain: Chain, symbol: string) => tokenBySymbol(chain, symbol).address

/** Terms that leave the minimum to the venue's direct pool. */
export const termsOf = (
  chain: Chain,
  { amount, buy, sell }: { readonly sell: string; readonly amount: bigint; readonly buy: string },
  but: Partial<Terms> = {}
): Terms => ({
  sell: addressOf(chain, sell),
  amount,
  buy: addressOf(chain, buy),
  minOut: 0n,
  hub: zeroAddress,
  deadline: never,
  ...but
})

/** The swap of the terms in the pools that only routes reach. */
export const inPools = (
  { contracts }: Chain,
  { amount, buy, sell }: Pick<Terms, "amount" | "buy" | "sell">,
  but: Partial<SwapData> = {}
): SwapData => ({
  callTo: contracts.routePools,
  approveTo: contracts.routePools,
  sendingAssetId: sell,
  receivingAssetId: buy,
  fromAmount: amount,
  callData: encodeFunctionData({
    abi: routePoolsAbi,
    functionName: "swap",
    args: [sell, buy, but.fromAmount ?? amount, contracts.diamond]
  }),
  requiresDeposit: true,
  ...but
})

/** The diamond's calldata; what it yields goes to our contract by default. */
export const routeOver = (chain: Chain, swapData: SwapData | ReadonlyArray<SwapData>, receiver?: Address): Hex => {
  const head = [zeroHash, "test", "", receiver ?? chain.contracts.routedSwap, 0n] as const
  return Array.isArray(swapData)
    ? encodeFunctionData({
        abi: lifiDiamondAbi,
        functionName: "swapTokensMultipleV3ERC20ToERC20",
        args: [...head, swapData]
      })
    : encodeFunctionData({
        abi: lifiDiamondAbi,
        functionName: "swapTokensSingleV3ERC20ToERC20",
        args: [...head, swapData as SwapData]
      })
}

export const honestRoute = (chain: Chain, terms: Terms) => routeOver(chain, inPools(chain, terms))

export const transact = (
  chain: Chain,
  from: LocalAccount,
  { data, to }: { readonly to: Address | null; readonly data: Hex }
) =>
  Effect.promise(async () => {
    const hash = await chain.client.sendTransaction({ account: from, to, data, gas: 5_000_000n })
    return chain.client.waitForTransactionReceipt({ hash })
  })

const swapOf = (chain: Chain, from: LocalAccount, { route, terms }: { readonly terms: Terms; readonly route: Hex }) =>
  ({
    address: chain.contracts.routedSwap,
    abi: routedSwapAbi,
    functionName: "swap",
    args: [terms, route],
    account: from
  }) as const

const approve = (chain: Chain, from: LocalAccount, { amount, sell }: Terms) => {
  const args = [chain.contracts.routedSwap, amount] as const
  return transact(chain, from, { to: sell, data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args }) })
}

/** Makes the swap; the receipt. */
export const swap = Effect.fnUntraced(function* (
  chain: Chain,
  from: LocalAccount,
  { route, terms }: { readonly terms: Terms; readonly route: Hex }
) {
  yield* approve(chain, from, terms)
  const data = encodeFunctionData({ abi: routedSwapAbi, functionName: "swap", args: [terms, route] })
  return yield* transact(chain, from, { to: chain.contracts.routedSwap, data })
})

/** The name of the error with which a swap would be refused, or "accepted"; nothing but the approval is sent. */
export const verdict = Effect.fnUntraced(function* (
  chain: Chain,
  from: LocalAccount,
  { route, terms }: { readonly terms: Terms; readonly route: Hex }
) {
  yield* approve(chain, from, terms)
  return yield* Effect.promise(() =>
    chain.client.simulateContract(swapOf(chain, from, { terms, route })).then(
      () => "accepted",
      (error: BaseError) => {
        const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError)
        const name = (reverted as ContractFunctionRevertedError | null)?.data?.errorName
        return name === undefined || name === "Error" ? "reverted" : name
      }
    )
  )
})

export const held = (chain: Chain, token: Address, account: Address) =>
  Effect.promise(() =>
    chain.client.readContract({ address: token, abi: erc20Abi, functionName: "balanceOf", args: [account] })
  )

interface Compiled {
  readonly contracts: Record<
    string,
    Record<string, { readonly abi: Abi; readonly evm: { readonly bytecode: { readonly object: string } } }>
  >
}

/** A contract of a file beside this one. */
export const compileToken = (file: string, name: string) => {
  const { compile } = createRequire(import.meta.url)("solc") as { readonly compile: (input: string) => string }
  const input = {
    language: "Solidity",
    sources: { [file]: { content: readFileSync(join(import.meta.dirname, file), "utf8") } },
    settings: { outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } }
  }
  const { contracts } = JSON.parse(compile(JSON.stringify(input))) as Compiled
  const { abi, evm } = contracts[file]![name]!
  return { abi, creation: `0x${evm.bytecode.object}` as Hex }
}

/** Deploys a token that answers nothing and keeps a share of every transfer. */
export const deployOddToken = Effect.fnUntraced(function* (chain: Chain, from: LocalAccount, keptBps: bigint) {
  const { abi, creation } = compileToken("OddToken.sol", "OddToken")
  const data = encodeDeployData({ abi, bytecode: creation, args: [keptBps] })
  const { contractAddress } = yield* transact(chain, from, { to: null, data })
  return contractAddress!
})

/** Gives an odd token to an account. */
export const mintOdd = (
  chain: Chain,
  from: LocalAccount,
  { account, amount, token }: { readonly token: Address; readonly account: Address; readonly amount: bigint }
) =>
  transact(chain, from, {
    to: token,
    data: encodeFunctionData({
      abi: [
        {
          type: "function",
          name: "mint",
          stateMutability: "nonpayable",
          inputs: [
            { name: "account", type: "address" },
            { name: "amount", type: "uint256" }
          ],
          outputs: []
        }
      ] as const,
      functionName: "mint",
      args: [account, amount]
    })
  })
