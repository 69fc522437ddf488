// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title A token as old ones are: its functions answer nothing, an allowance is changed from or to zero only, and it
/// may keep a share of every transfer
contract OddToken {
    uint256 public immutable KEPT_BPS;

    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    constructor(uint256 keptBps) {
        KEPT_BPS = keptBps;
    }

    function mint(address account, uint256 amount) external {
        balanceOf[account] += amount;
    }

    function approve(address spender, uint256 amount) external {
        require(amount == 0 || allowance[msg.sender][spender] == 0, "not from zero");
        allowance[msg.sender][spender] = amount;
    }

    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external {
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        balanceOf[from] -= amount;
        balanceOf[to] += amount - amount * KEPT_BPS / 10_000;
    }
}
