// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title A token that can be honest, or odd in each of the ways that tokens on chains are
contract OddToken {
    uint8 public immutable decimals;
    mapping(address account => uint256) public shares;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isBlocked;
    uint256 public keptBps;
    uint256 public scale = 1e18;
    bool public answersFalse;
    bool public lies;
    address public hook;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }

    function balanceOf(address account) public view returns (uint256) {
        return shares[account] * scale / 1e18;
    }

    function mint(address account, uint256 amount) external {
        shares[account] += amount * 1e18 / scale;
    }

    /// @dev Keeps a share of every transfer.
    function keep(uint256 bps) external {
        keptBps = bps;
    }

    /// @dev Every balance becomes another one at once.
    function rebase(uint256 scale_) external {
        scale = scale_;
    }

    function refuse(bool isRefusing) external {
        answersFalse = isRefusing;
    }

    /// @dev Answers true and moves nothing.
    function lie(bool isLying) external {
        lies = isLying;
    }

    function block_(address account, bool isBlocked_) external {
        isBlocked[account] = isBlocked_;
    }

    /// @dev Is called in the middle of every transfer.
    function setHook(address hook_) external {
        hook = hook_;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        if (answersFalse) return false;
        if (lies) return true;
        require(!isBlocked[from] && !isBlocked[to], "blocked");
        uint256 moved = amount * 1e18 / scale;
        shares[from] -= moved;
        if (hook != address(0)) IHook(hook).moved(from, to, amount);
        shares[to] += moved - moved * keptBps / 10_000;
        return true;
    }
}

interface IHook {
    function moved(address from, address to, uint256 amount) external;
}

/// @title A price feed that answers what a test sets
contract TestFeed {
    uint8 public immutable decimals;
    int256 public answer;
    uint256 public startedAt;
    uint256 public updatedAt;
    uint80 public round = 1;
    uint80 public answeredIn = 1;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }

    function set(int256 answer_, uint256 startedAt_, uint256 updatedAt_) external {
        (answer, startedAt, updatedAt) = (answer_, startedAt_, updatedAt_);
    }

    /// @dev A proxy of Chainlink numbers its aggregators above the 64 bits of a round.
    function setRound(uint80 round_, uint80 answeredIn_) external {
        (round, answeredIn) = (round_, answeredIn_);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (round, answer, startedAt, updatedAt, answeredIn);
    }
}

/// @title A feed behind which an aggregator stops at a least and a most answer
contract BoundedFeed is TestFeed {
    int192 public minAnswer;
    int192 public maxAnswer;

    constructor(uint8 decimals_, int192 least, int192 most) TestFeed(decimals_) {
        (minAnswer, maxAnswer) = (least, most);
    }

    function aggregator() external view returns (address) {
        return address(this);
    }

    /// @dev Another aggregator with bounds of its own takes over.
    function replace(int192 least, int192 most) external {
        (minAnswer, maxAnswer) = (least, most);
        round += 1 << 64;
        answeredIn = round;
    }
}
