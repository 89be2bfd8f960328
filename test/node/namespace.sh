#!/bin/sh
# The outside of a node: run inside fresh mount, network and process namespaces, so that nothing here reaches the machine itself.
#   namespace.sh <tree of the node's programs> <work folder>
set -eu
programs=$1
work=$2

mount --make-rprivate /
# containerd, runc, the network plugins and iptables, where they expect each other to be.
mount -t overlay overlay -o "lowerdir=$programs/usr:/usr" /usr
ldconfig -C "$work/ld.so.cache"
touch /etc/ld.so.cache
mount --bind "$work/ld.so.cache" /etc/ld.so.cache
mount -t tmpfs tmpfs /run

mount -t sysfs sysfs /sys
if [ "$(stat -f -c %T /sys/fs/cgroup)" != cgroup2fs ]; then
  controllers=$(awk 'NR > 1 && $2 > 0 && $4 == 1 { print $1 }' /proc/cgroups)
  if [ -z "$controllers" ]; then
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
  else
    mount -t tmpfs cgroup /sys/fs/cgroup
    for controller in $controllers; do
      mkdir "/sys/fs/cgroup/$controller"
      mount -t cgroup -o "$controller" "$controller" "/sys/fs/cgroup/$controller"
    done
    mkdir /sys/fs/cgroup/systemd
    mount -t cgroup -o none,name=systemd systemd /sys/fs/cgroup/systemd
  fi
fi

# One subtree for all pods: it is removed when the node goes.
for hierarchy in /sys/fs/cgroup/*/; do
  [ -e "$hierarchy/cgroup.procs" ] && [ -e "$hierarchy/tasks" ] || continue
  mkdir -p "$hierarchy/parley-node"
  for file in cpuset.cpus cpuset.mems; do
    if [ -e "$hierarchy/$file" ]; then cat "$hierarchy/$file" > "$hierarchy/parley-node/$file"; fi
  done
done
[ -e /sys/fs/cgroup/cgroup.controllers ] && mkdir -p /sys/fs/cgroup/parley-node

# A group weighs as much as a single process next to it: pods and servers together are to have as much as a few of those, or a busy
# machine starves them.
cpu=/sys/fs/cgroup/cpu/parley-node
if [ -e "$cpu/cpu.shares" ]; then
  mkdir -p "$cpu/servers"
  for file in cpuset.cpus cpuset.mems; do
    if [ -e "$cpu/$file" ]; then cat "$cpu/$file" > "$cpu/servers/$file"; fi
  done
  echo 65536 > "$cpu/cpu.shares"
  echo 4096 > "$cpu/servers/cpu.shares"
  # This shell goes on as the program that starts the servers.
  echo "$PPID" > "$cpu/servers/cgroup.procs"
fi

ip link set lo up
# With an address of its own: otherwise it takes the lowest of the pods', and whenever that pod comes or goes the others know the machine
# by an unused address, for half a minute.
ip link add parley0 address 02:00:00:00:00:01 type bridge
ip addr add 10.211.0.1/16 dev parley0
ip addr add 10.211.0.2/16 dev parley0
ip link set parley0 up
ip route add default dev parley0
echo 1 > /proc/sys/net/ipv4/ip_forward
