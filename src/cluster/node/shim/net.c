/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of a pod's network: lo, and eth0 with one address.
 *
 * The address is a /32 and everything goes to the gateway, also what is for a pod beside: so every
 * packet passes the machine's own routing, where the addresses of Services are translated, there
 * and back.  Plain ioctls do; the kernel's answer to redirects is switched off, or pods would learn
 * short cuts.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/route.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "src/base/file.h"
#include "src/cluster/node/shim/shim.h"

static void set_name(struct ifreq *r, const char *name)
{
    (void)snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", name);
}

static int set_up(int s, const char *name, struct err *e)
{
    struct ifreq r = {0};

    set_name(&r, name);
    if (ioctl(s, SIOCGIFFLAGS, &r) < 0)
        return err_errno(e, errno, "there is no interface %s in the pod", name);
    r.ifr_flags = (short)(r.ifr_flags | IFF_UP);
    if (ioctl(s, SIOCSIFFLAGS, &r) < 0)
        return err_errno(e, errno, "cannot bring up %s in the pod", name);
    return 0;
}

static int to_address(const char *text, struct sockaddr *ret, struct err *e)
{
    struct sockaddr_in in = {.sin_family = AF_INET};

    if (inet_pton(AF_INET, text, &in.sin_addr) != 1)
        return err_bad(e, "'%s' is not an IPv4 address", text);
    memcpy(ret, &in, sizeof(in));
    return 0;
}

static int set_address(int s, const char *name, const char *ip, struct err *e)
{
    struct ifreq r = {0};
    int err;

    set_name(&r, name);
    err = to_address(ip, &r.ifr_addr, e);
    if (err < 0)
        return err;
    if (ioctl(s, SIOCSIFADDR, &r) < 0)
        return err_errno(e, errno, "cannot give %s the address %s", name, ip);
    err = to_address("255.255.255.255", &r.ifr_netmask, e);
    if (err < 0)
        return err;
    if (ioctl(s, SIOCSIFNETMASK, &r) < 0)
        return err_errno(e, errno, "cannot set the mask of %s", name);
    return 0;
}

/* The kernel wants a writable name; it does not write. */
static int add_route(int s, const char *to, const char *mask, const char *via, char *device,
                     struct err *e)
{
    struct rtentry r = {.rt_flags = RTF_UP, .rt_dev = device};
    int err = to_address(to, &r.rt_dst, e);

    if (err == 0)
        err = to_address(mask, &r.rt_genmask, e);
    if (err == 0 && via) {
        r.rt_flags |= RTF_GATEWAY;
        err = to_address(via, &r.rt_gateway, e);
    }
    if (streq(mask, "255.255.255.255"))
        r.rt_flags |= RTF_HOST;
    if (err < 0)
        return err;
    if (ioctl(s, SIOCADDRT, &r) < 0)
        return err_errno(e, errno, "cannot add a route to %s", to);
    return 0;
}

/* Settings of the pod's network: no short cuts past the gateway; and `ping` for everybody, which
 * else needs the right to send any packet. */
static void set_up_kernel(void)
{
    static const struct {
        const char *file;
        const char *value;
    } settings[] = {{"/proc/sys/net/ipv4/conf/all/accept_redirects", "0"},
                    {"/proc/sys/net/ipv4/conf/eth0/accept_redirects", "0"},
                    {"/proc/sys/net/ipv4/ping_group_range", "0 2147483647"}};

    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        int fd = open(settings[i].file, O_WRONLY | O_CLOEXEC);

        if (fd >= 0) {
            (void)!file_write_all(fd, str_of(settings[i].value));
            (void)close(fd);
        }
    }
}

int shim_net_up(const char *ip, const char *gateway, struct err *e)
{
    AUTO(close) int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char device[] = "eth0";
    int r;

    if (s < 0)
        return err_errno(e, errno, "cannot open a socket in the pod");
    r = set_up(s, "lo", e);
    if (r < 0 || !ip)
        return r;
    set_up_kernel();
    r = set_address(s, device, ip, e);
    if (r == 0)
        r = set_up(s, device, e);
    if (r == 0 && gateway)
        r = add_route(s, gateway, "255.255.255.255", NULL, device, e);
    if (r == 0 && gateway)
        r = add_route(s, "0.0.0.0", "0.0.0.0", gateway, device, e);
    return r;
}
