/** Merkle root with sorted pairs; a node without a neighbour goes up as it is. Of a single leaf, that leaf. */
import { concatHex, type Hex, keccak256 } from "viem"

const parent = (one: Hex, other: Hex): Hex => keccak256(concatHex(one < other ? [one, other] : [other, one]))

export const merkleRoot = (leaves: ReadonlyArray<Hex>): Hex => {
  let nodes = leaves
  while (nodes.length > 1) {
    nodes = nodes.flatMap((node, index) => {
      if (index % 2 === 1) return []
      const neighbour = nodes[index + 1]
      return [neighbour === undefined ? node : parent(node, neighbour)]
    })
  }
  const [root] = nodes
  if (root === undefined) throw new RangeError("A tree needs at least one leaf")
  return root
}
