/**
 * Prints the transactions that put the contracts of `contracts/` on a chain, as JSON: `{name, address, to, data}`.
 * Anybody may send them, from any account and in any order; the deterministic deployer gives the addresses that the
 * service knows. A contract that is there already makes its transaction revert.
 *
 * `node scripts/contracts.ts <diamond> <router>` adds RoutedSwap, whose address follows from these two of the chain;
 * `<administrator> <guardian>` behind them add TradeGuard, which these two keys fill and pause (docs/contracts.md).
 */
import { Effect } from "effect"
import { concat, encodeDeployData, getCreate2Address, type Hex, isAddress, pad } from "viem"
import { canonical, create2Deployer } from "#sandbox/chain/canonical.ts"
import { loadContracts } from "#sandbox/chain/Contracts.ts"

const salt = pad("0x0")
const given = process.argv.slice(2)
if (![0, 2, 4].includes(given.length) || !given.every((address) => isAddress(address))) {
  process.stderr.write(
    "usage: node scripts/contracts.ts [<LI.FI's diamond> <Uniswap v2 router> [<administrator> <guardian>]], addresses\n"
  )
  process.exit(1)
}

const { own } = await Effect.runPromise(loadContracts)

const transaction = (name: string, bytecode: Hex) => ({
  name,
  address: getCreate2Address({ from: create2Deployer, salt, bytecode }),
  to: create2Deployer,
  data: concat([salt, bytecode])
})

const routedSwap = () => {
  const { abi, creation } = own("RoutedSwap")
  return transaction("RoutedSwap", encodeDeployData({ abi, bytecode: creation, args: given.slice(0, 2) }))
}

const tradeGuard = () => {
  const { abi, creation } = own("TradeGuard")
  const args = [...given.slice(2), canonical.withdrawalExecutor]
  return transaction("TradeGuard", encodeDeployData({ abi, bytecode: creation, args }))
}

const transactions = [
  ...["WithdrawalExecutor", "Erc1271OwnerValidator"].map((name) => transaction(name, own(name).creation)),
  ...(given.length === 0 ? [] : [routedSwap()]),
  ...(given.length === 4 ? [tradeGuard()] : [])
]

process.stdout.write(`${JSON.stringify(transactions, null, 2)}\n`)
