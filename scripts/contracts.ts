/**
 * Prints the transactions that put the contracts of `contracts/` on a chain, as JSON: `{name, address, to, data}`. Anybody
 * may send them, from any account and in any order; the deterministic deployer gives the addresses that the service
 * knows. A contract that is there already makes its transaction revert.
 */
import { Effect } from "effect"
import { concat, getCreate2Address, pad } from "viem"
import { create2Deployer } from "#sandbox/canonical.ts"
import { loadContracts } from "#sandbox/Contracts.ts"

const salt = pad("0x0")

const { own } = await Effect.runPromise(loadContracts)

const transactions = ["WithdrawalExecutor", "Erc1271OwnerValidator"].map((name) => {
  const { creation } = own(name)
  return {
    name,
    address: getCreate2Address({ from: create2Deployer, salt, bytecode: creation }),
    to: create2Deployer,
    data: concat([salt, creation])
  }
})

process.stdout.write(`${JSON.stringify(transactions, null, 2)}\n`)
