var K,Kn,Hr,Pe,en,Ct,zn,Tt,Vn,nn,tn,Wr,pt=Symbol.for("pv"),Dt={},Rt=[],Br=/^m(i|n|o|s|text|space)$/,on=Array.isArray,rn=Rt.slice,Ye=Object.assign;function Qe(e){e&&e.parentNode&&e.remove()}function Jn(e,t,n){var o,r,s,i={},l=arguments.length;for(s in t)s=="key"?o=t[s]:s=="ref"&&typeof e!="function"?r=t[s]:i[s]=t[s];return l>2&&(i.children=l>3?rn.call(arguments,2):n),ut(e,i,o,r,null)}function ut(e,t,n,o,r){var s={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:pt,__v:r||++Kn,__i:-1,__u:0};return!r&&K.vnode&&K.vnode(s),s}function Ot(e){return e.children}function rt(e,t){this.props=e,this.context=t,this.__g=0}function Fe(e,t){if(t==null)return e.__&&Fe(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:Fe(e)}function Kr(e){var t,n=e.__v,o=n.__e,r=[],s=[],i=e.__P;i&&((t=Ye({constructor:pt},n)).__v=n.__v+1,K.vnode&&K.vnode(t),sn(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,r,o||Fe(n),32&n.__u,s),t.__v=n.__v,t.__.__k[t.__i]=t,eo(r,t,s),n.__=n.__e=null,t.__e!=o&&Gn(t))}function Gn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),Gn(e)}function Wn(e){(8&e.__g||(e.__g|=8,Pe.push(e),Ct++))&&en==K.debounceRendering||((en=K.debounceRendering)||queueMicrotask)(Qn)}function Qn(){try{for(var e,t=1;Pe.length;)Pe.length>t&&Pe.sort(zn),e=Pe.shift(),t=Pe.length,8&e.__g&&Kr(e)}finally{(Ct=Pe.length)&&(en||queueMicrotask)(Qn)}}function Yn(e,t,n,o,r,s,i,l,u,d,c){var $,m,p,f,_,h,w=o.__k||Rt,y=t.length;for(u=zr(n,t,w,u,y),$=0;$<y;$++)(p=n.__k[$])!=null&&(m=~p.__i&&w[p.__i]||Dt,p.__i=$,h=sn(e,p,m,r,s,i,l,u,d,c),f=p.__e,(m.ref!=p.ref||8&m.__u)&&(m.ref&&an(m.ref,null,p,m),p.ref&&c.push(p.ref,p.__c||f,p)),_=_||f,4&p.__u?(u=Xn(p,u,e,!m.__v),m.__e&&(m.__e=null)):typeof p.type=="function"&&h!==void 0?u=h:f&&(u=f.nextSibling),p.__u&=-21);return n.__e=_,u}function zr(e,t,n,o,r){var s,i,l,u,d,c,$,m,p,f=n.length,_=f,h=0,w=0,y=e.__k=Array(r);for(s=0;s<r;s++)(i=t[s])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=y[s]=ut(null,i):on(i)?i=y[s]=ut(Ot,{children:i}):i.constructor===pt&&i.__b?i=y[s]=ut(i.type,i.props,i.key,i.ref,i.__v):y[s]=i,u=s+h,i.__=e,i.__b=e.__b+1,l=null,~(d=i.__i=Vr(i,n,u,_))&&(_--,(l=n[d])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,d==u-1?h--:d==u+1?h++:d!=u&&(d>u?h--:h++,w=1)):(~d||(r>f?h--:r<f&&h++),typeof i.type!="function"&&(i.__u|=4))):y[s]=null;if(w){for(c=[],$=[],s=0;s<r;s++)if((i=y[s])&&16&i.__u){for(h=0,m=c.length;h<m;)c[p=h+m>>1]<i.__i?h=p+1:m=p;c[h]=i.__i,$[s]=h+1}for(h=c.length;s--;)$[s]&&($[s]==h?h--:y[s].__u|=4)}if(_)for(s=0;s<f;s++)!(l=n[s])||2&l.__u||(l.__e==o&&(o=Fe(l)),ln(l,l));return o}function Xn(e,t,n,o){var r,s,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(r=e.__k)for(s=0;s<r.length;s++)r[s]&&(r[s].__=e,t=Xn(r[s],t,n,!1));return t}for(t&&!t.parentNode&&(t=Fe(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function Vr(e,t,n,o){var r,s=e.key,i=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&s==null||u&&s==l.key&&i==l.type)return n;if(o>(u?1:0)){for(r=n-1;r>=0;r--)if((l=t[r])&&!(2&l.__u)&&s==l.key&&i==l.type)return r;for(r=n+1;r<t.length;r++)if((l=t[r])&&!(2&l.__u)&&s==l.key&&i==l.type)return r}return-1}function Bn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function xt(e,t,n,o,r){var s,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||Bn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||Bn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=tn[t]||(tn[t]=Jr(t)),(e.__a||(e.__a={}))[t]=nn,s=t!=(t=t.replace(Vn,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,s):e.removeEventListener(t,i,s));else{if(r=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function Jr(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[Tt]==null)t[Tt]=nn++;else if(t[Tt]<this.__a[e])return;return n(K.event?K.event(t):t)}}}function sn(e,t,n,o,r,s,i,l,u,d){var c,$,m,p,f,_,h,w,y,O,N,k,Y,se,oe,ce,G,J,re=t.type;if(t.constructor!==pt)return null;128&n.__u&&(u=32&n.__u,c=n.__c.__z)&&(t.__u|=u,$=s=[],c.nodeType==8?l=St(c,s):s.push(c),l=s[0]||l),(c=K.__b)&&c(t);e:if(typeof re=="function"){m=i.length;try{if(w=t.props,y=(c=re.prototype)&&c.render,O=(c=re.contextType)&&o[c.__c],N=c?O?O.props.value:c.__:o,(p=n.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(y?t.__c=p=new re(w,N):(t.__c=p=new rt(w,N),p.constructor=re,p.render=Qr),O&&O.sub(p),p.state||(p.state={}),p.__n=o,p.__g|=8,p.__h=[],p.__k=[]),y&&(p.__s||(p.__s=p.state),re.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=Ye({},p.__s)),Ye(p.__s,re.getDerivedStateFromProps(w,p.__s)))),f=p.props,_=p.state,p.__v=t,n.__c){if(w!==f&&y&&!re.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(w,N),t.__v==n.__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(w,p.__s,N)===!1){t.__v!=n.__v&&(p.props=w,p.state=p.__s,p.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(v){v&&(v.__=t)}),Rt.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&i.push(p),l=Fe(n);break e}p.componentWillUpdate&&p.componentWillUpdate(w,p.__s,N),y&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(f,_,h)})}else y&&!re.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),y&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=N,p.props=w,p.__P=e,p.__g&=-5,k=K.__r,Y=y?25:0;do p.__g&=-9,k&&k(t),c=p.render(p.props,p.state=p.__s,p.context);while(8&p.__g&&++Y<25);y&&(Rt.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(o=Ye({},o,p.getChildContext())),y&&n.__c&&p.getSnapshotBeforeUpdate&&(h=p.getSnapshotBeforeUpdate(f,_)),se=c&&c.type===Ot&&c.key==null?c.props.children:c,w.__P&&(c=l,r=(e=w.__P).namespaceURI,u=s=null,n.props&&n.props.__P!=e&&(n.__k.some(function(v){v&&ln(v,v)}),n.__k=null),l=n.__k?Fe(n,0):null),l=Yn(e,on(se)?se:[se],t,n,o,r,s,i,l,u,d),w.__P&&(t.__e=null,l=c),t.__u&=-161,$&&$.some(Qe),p.__h.length&&i.push(p),1&p.__g&&(p.__g&=-4)}catch(v){if(i.length=m,t.__v=null,u||s)if(v&&v.then){if(t.__u|=128|u,s){for(~(G=s.indexOf(l||void 0))||(G=s.length);(J=s[G-1])&&J.nodeType==8;)G--;for(;G<s.length;G++)if(J=s[G])if(s[G]=null,oe){if(J==ce)break}else{if(J.nodeType!=8)break;J.data.startsWith("$s")&&(ce=St(oe=J))}}if(!oe){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;oe=l}(c=St(oe=t.__c.__z||(t.__c.__z=oe)))?(t.__e=oe,l=c):t.__e=l,l=l&&l.nextSibling}else s&&s.some(Qe);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),v&&v.then||Zn(t),K.__e(v,t,n)}}else l=t.__e=Gr(n.__e,t,n,o,r,s,i,u,d,e);return(c=K.diffed)&&c(t),l}function St(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function Zn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Zn))}function eo(e,t,n){for(var o=0;o<n.length;)an(n[o++],n[o++],n[o++]);K.__c&&K.__c(t,e),e.some(function(r){try{e=r.__h,r.__h=[],e.some(function(s){s.call(r)})}catch(s){K.__e(s,r.__v)}})}function Gr(e,t,n,o,r,s,i,l,u,d){var c,$,m,p,f,_,h,w,y=n.props||Dt,O=t.props,N=t.type;if(N=="svg"?r="http://www.w3.org/2000/svg":N=="math"?r="http://www.w3.org/1998/Math/MathML":r||(r="http://www.w3.org/1999/xhtml"),s){for(c=0;c<s.length;c++)if((f=s[c])&&(N?f.localName==N:f.nodeType==3)){e=f,s[c]=null;break}}if(!e){if(w=d.ownerDocument||document,!N)return w.createTextNode(O);e=w.createElementNS(r,N,O.is?O:d),l&&(K.__m&&K.__m(t,s),l=!1),s=null}if(N){if(d=N=="template"&&e.content||e,s=N=="textarea"&&O.defaultValue!=null?null:s&&rn.call(d.childNodes),!l&&s)for(y={},c=0;c<e.attributes.length;c++)y[(f=e.attributes[c]).name]=f.value;for(c in y)f=y[c],c=="dangerouslySetInnerHTML"?m=f:c=="children"||c in O||c=="value"&&"defaultValue"in O||c=="checked"&&"defaultChecked"in O||xt(e,c,null,f,r);for(c in O)f=O[c],c=="children"?p=f:c=="dangerouslySetInnerHTML"?$=f:c=="value"?_=f:c=="checked"?h=f:l&&typeof f!="function"||y[c]===f||xt(e,c,f,y[c],r);$?(l||m&&($.__html==m.__html||$.__html==e.innerHTML)||(e.innerHTML=$.__html),t.__k=[]):(m&&(e.textContent=""),(N=="foreignObject"||r=="http://www.w3.org/1998/Math/MathML"&&Br.test(N))&&(r="http://www.w3.org/1999/xhtml"),Yn(d,on(p)?p:[p],t,n,o,r,s,i,s?s[0]:n.__k&&Fe(n,0),l,u),s&&s.some(Qe)),l&&N!="textarea"||(c="value",N=="progress"&&_==null?e.removeAttribute(c):_==null||_===e[c]&&(N!="progress"||_)||xt(e,c,_,y[c],r),c="checked",h!=null&&h!=e[c]&&xt(e,c,h,y[c],r))}else y===O||l&&e.data==O||(e.data=O);return e}function an(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(r){K.__e(r,n)}}function ln(e,t,n){var o,r,s,i;if(K.unmount&&K.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||an(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){K.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&ln(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(r=St(o,s=[]))&&(o==e.__e&&s.some(Qe),Qe(r),Qe(o)),n||Qe(e.__e),e.__e=e.__c=e.__=null}function Qr(e,t,n){return this.constructor(e,n)}function to(e,t){var n,o,r,s;K.__&&K.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=ut(Ot,{children:[e]}),r=[],s=[],sn(t,t.__k,o||Dt,Dt,t.namespaceURI,o?null:t.firstChild?rn.call(t.childNodes):null,r,o?o.__e:t.firstChild,n,s),eo(r,t.__k,s),t.__k.props.children=null}K={__e:function(e,t,n,o){for(var r,s,i;t=t.__;)if((r=t.__c)&&!(1&r.__g)){r.__g|=4;try{if((i=(s=r.constructor)&&s.getDerivedStateFromError)&&r.setState(s.getDerivedStateFromError(e)),r.componentDidCatch&&(r.componentDidCatch(e,o||{}),i=1),i&&8&r.__g)return void(r.__g|=2)}catch(l){e=l}}throw Ct=0,e}},Kn=0,Hr=function(e){return e!=null&&e.constructor===pt},rt.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=Ye({},this.state)),typeof e=="function"&&(e=e(Ye({},n),this.props)),e&&(Ye(n,e),this.__v&&(t&&this.__k.push(t),Wn(this)))},rt.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Wn(this))},rt.prototype.render=Ot,Pe=[],Ct=0,zn=function(e,t){return e.__v.__b-t.__v.__b},Tt=Symbol(),Vn=/(PointerCapture)$|Capture$/i,nn=0,tn={},Wr=0;var Xe,ee,cn,no,un=Object.is,At=0,po=[],pn=[],Z=K,oo=Z.__b,ro=Z.__r,so=Z.diffed,ao=Z.__c,io=Z.unmount,lo=Z.__;function mt(e,t){Z.__h&&Z.__h(ee,e,At||t),At=0;var n=ee.__H||(ee.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function g(e){return At=1,Yr(mo,e)}function Yr(e,t,n){var o=mt(Xe++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):mo(void 0,t),function(s){var i=(o.__N||o.__)[0],l=o.t(i,s);un(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=ee,!ee.__f)){ee.__f=!0;var r=ee.shouldComponentUpdate;ee.shouldComponentUpdate=function(s,i,l){var u=this.__H;if(!u)return!0;var d=!1,c=this.props!=s;if(u.__.some(function(m){m.__N&&(d=!0,un(m.__[0],m.__N[0])||(c=!0))}),r){var $=r.call(this,s,i,l);return d?$||c:$}return!d||c}}return o.__}function T(e,t){var n=mt(Xe++,3);!Z.__s&&mn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,ee.__H.__h.push(n))}function ft(e,t){var n=mt(Xe++,4);!Z.__s&&mn(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,ee.__h.push(n))}function V(e){return At=5,me(function(){return{current:e}},[])}function me(e,t){var n=mt(Xe++,7);return mn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function $t(){var e=mt(Xe++,11);if(!e.__){for(var t=ee.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Xr(){var e;do{for(;e=pn.shift();)try{dt(e)}catch(n){Z.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=po.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(dt),t.__h.some(dn),t.__h=[]}catch(n){t.__h=[],Z.__e(n,e.__v)}}}while(pn.length)}Z.__b=function(e){ee=null,oo&&oo(e)},Z.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),lo&&lo(e,t)},Z.__r=function(e){ro&&ro(e),Xe=0;var t=(ee=e.__c).__H;t&&(cn==ee?ee.__h=[]:(t.__h.some(dt),t.__h.some(dn),Xe=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),cn=ee},Z.diffed=function(e){so&&so(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&uo(po.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),cn=ee=null},Z.__c=function(e,t){t.some(function(n){try{n.__h.some(dt),n.__h=n.__h.filter(function(o){return!o.__||dn(o)})}catch(o){n.__h=[function(){throw o}]}}),ao&&ao(e,t)},Z.unmount=function(e){io&&io(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(r){try{if(r.__P&&r.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}r.__P=n,uo(pn.push(r))}else dt(r)}catch(s){t=s}}),o.__H=void 0,t&&Z.__e(t,o.__v))};var co=typeof requestAnimationFrame=="function";function Zr(e){var t,n=function(){clearTimeout(o),co&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);co&&(t=requestAnimationFrame(n))}function uo(e){e!=1&&no==Z.requestAnimationFrame||((no=Z.requestAnimationFrame)||Zr)(Xr)}function dt(e){var t=ee,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),ee=t}function dn(e){var t=ee;e.__c=e.__(),ee=t}function mn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!un(n,e[o])})}function mo(e,t){return typeof t=="function"?t(e):t}var $o=function(e,t,n,o){var r;t[0]=0;for(var s=1;s<t.length;s++){var i=t[s++],l=t[s]?(t[0]|=i?1:2,n[t[s++]]):t[++s];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++s]]=l:i===6?o[1][t[++s]]+=l+"":i?(r=e.apply(l,$o(e,l,n,["",null])),o.push(r),l[0]?t[0]|=2:(t[s-2]=0,t[s]=r)):o.push(l)}return o},fo=new Map;function ho(e){var t=fo.get(this);return t||(t=new Map,fo.set(this,t)),(t=$o(this,t.get(e)||(t.set(e,t=(function(n){for(var o,r,s=1,i="",l="",u=[0],d=function(m){s===1&&(m||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,m,i):s===3&&(m||i)?(u.push(3,m,i),s=2):s===2&&i==="..."&&m?u.push(4,m,0):s===2&&i&&!m?u.push(5,0,!0,i):s>=5&&((i||!m&&s===5)&&(u.push(s,0,i,r),s=6),m&&(u.push(s,m,0,r),s=6)),i=""},c=0;c<n.length;c++){c&&(s===1&&d(),d(c));for(var $=0;$<n[c].length;$++)o=n[c][$],s===1?o==="<"?(d(),u=[u],s=3):i+=o:s===4?i==="--"&&o===">"?(s=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(d(),s=1):s&&(o==="="?(s=5,r=i,i=""):o==="/"&&(s<5||n[c][$+1]===">")?(d(),s===3&&(u=u[0]),s=u,(u=u[0]).push(2,0,s),s=0):o===" "||o==="	"||o===`
`||o==="\r"?(d(),s=2):i+=o),s===3&&i==="!--"&&(s=4,u=u[0])}return d(),u})(e)),t),arguments,[])).length>1?t:t[0]}var a=ho.bind(Jn);function fe(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function z(e){let[t,n]=g(e.get());return T(()=>(n(e.get()),e.subscribe(n)),[e]),t}function It(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=fe(n);return o.subscribe(r=>{try{localStorage.setItem(e,r)}catch{}}),o}var Nt=()=>location.pathname+location.search,Ze=fe(Nt()),go=0;addEventListener("popstate",()=>Ze.set(Nt()));function $e(e,{replace:t=!1}={}){e!==Nt()&&(t?history.replaceState(history.state,"",e):(go++,history.pushState({depth:go},"",e)),Ze.set(Nt()))}function _o(){history.state?.depth>0?history.back():$e("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():$e(t.pathname+t.search))});function F(){let e=z(Ze);return[me(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:r=!0}={})=>{let s=new URLSearchParams(location.search);for(let[l,u]of Object.entries(o)){s.delete(l);for(let d of[u].flat())d&&s.append(l,d)}let i=s.toString();$e(location.pathname+(i?`?${i}`:""),{replace:r})}]}function ne(e){T(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function vo(e,t){for(let[n,o]of t){let r=n.exec(e);if(r)try{return[o,r.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function Se(e,t,n=200){let[o,r]=g(e);return T(()=>r(e),[e]),T(()=>{if(o===e)return;let s=setTimeout(()=>t(o),n);return()=>clearTimeout(s)},[o]),[o,r]}var Ce=fe({online:!0}),je=fe(0),ht=null;function Mt(){Ce.get().online||(clearTimeout(ht),ht=null,Ce.set({online:!0}),je.set(je.get()+1))}function gt(e){let t=Ce.get();Ce.set({online:!1,since:t.since??Date.now(),message:e}),ht===null&&(ht=setTimeout(bo,1e3))}async function bo(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return Mt();let t=await e.json().catch(()=>null);t?.message&&Ce.set({...Ce.get(),message:t.message})}catch{}Ce.get().online||(ht=setTimeout(bo,1e3))}var qe=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function ie(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Lt(e={}){let t=new URLSearchParams;for(let[o,r]of Object.entries(e))for(let s of Array.isArray(r)?r:[r])s!=null&&s!==""&&s!==!1&&s!==0&&t.append(o,s);let n=t.toString();return n?`?${n}`:""}var fn=0n,yo=0,st=()=>Date.now()+yo;function Pt(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:fn.toString()}}function es(e){try{let t=BigInt(e?.revision??0);t>fn&&(fn=t)}catch{}}async function et(e,t,{query:n,body:o,signal:r}={}){let s={method:e,signal:r,headers:{Accept:"application/json"}};o!==void 0&&(s.headers["Content-Type"]="application/json",s.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Lt(n),s),l=await i.json().catch(()=>null)}catch(u){throw r?.aborted?u:(gt("The server does not answer."),new qe(0))}return Ft(i,l)}function Ft(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let r=n-Date.now();yo=Math.abs(r)>2e3?r:0}if(e.ok)return Mt(),es(t),t??{};let o=new qe(e.status,t);throw o.offline?gt(o.message):Mt(),e.status===401&&ts(),o}var _t=e=>e<40?1e4:e<300?3e4:6e4,S=(e,t,n)=>et("GET",e,{query:t,signal:n}),C=(e,t,n)=>et("POST",e,{body:t,signal:n});function ts(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Lt({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function xe(e,t,n,o,r=5e3){let s=[],i="";do{let l=await S(e,{page_size:1e3,...t,page_token:i},o);s.push(...l[n]??[]),i=l.next_page_token??""}while(i&&s.length<r);return{items:s,more:i!==""}}var De=fe(null),qt=It("author",""),he=()=>De.get()?.authenticated?{}:{author:qt.get()||"dashboard"};async function $n(){let e=await S("/session");De.set({authenticates:e.authenticated??!1,...e}),jt.clear()}async function wo(e){await et("POST","/session",{body:{token:e}}),await $n()}async function ko(){await et("DELETE","/session"),De.set(null)}var jt=new Map;function ns(e){let t=JSON.stringify(e),n=jt.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:C("/v1/can-i",e)},n.answer.catch(()=>jt.delete(t)),jt.set(t,n)),n.answer}var os={ROLE_OPERATOR:"It needs the role operator there.",ROLE_EDITOR:"It needs the role editor there.",ROLE_ADMIN:"It needs the role admin.",ROLE_ACQUIRER:"It needs the role acquirer there."};function Eo(e,t="",n="",o=""){let r=z(De),[s,i]=g("");return T(()=>{if(!e||!r?.authenticated)return i("");let l=!1;return ns({role:e,semaphore:t,group:n,acquirer:o}).then(u=>l||i(u.allowed?"":`You may not: ${u.reason}. ${os[e]} An administrator can grant it.`),()=>l||i("")),()=>l=!0},[e,t,n,o,r]),s}var b=e=>Number(e??0).toLocaleString("en"),D=(e,t,n)=>`${b(e)} ${Number(e)===1?t:n}`,A=e=>e?Math.round(parseFloat(e)*1e3):0;function Te(e){if(!e)return"0s";if(e<0)return`-${Te(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let r=Math.floor(e/o);r&&(t+=r+n),e-=r*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function Q(e){return e<0?"0s":e<1e4?Te(Math.round(e/100)*100):e<36e5?Te(Math.round(e/1e3)*1e3):e<48*36e5?Te(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var at=e=>Q(Math.max(0,Math.round(e/1e3))*1e3),rs={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Oe(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,r,s)=>(t+=parseFloat(r)*rs[s],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var tt=e=>e==null?"":Te(A(e));var vt=e=>String(e).padStart(2,"0");function M(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${vt(t.getMonth()+1)}-${vt(t.getDate())}`} ${Ut(t)}`}var Ut=e=>`${vt(e.getHours())}:${vt(e.getMinutes())}:${vt(e.getSeconds())}`;function it(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(st()).toDateString()?Ut(t):M(e)}function ye(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function Ue(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${b(n)} more`:"")}function hn(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var ss=4e4,as=5e3;function To(e,t,n){let o=!1,r=0,s=!1,i="",l=null,u=null,d=()=>{clearTimeout(u),l?.abort(),l=null},c=()=>{o=!0,d(),document.removeEventListener("visibilitychange",$)},$=()=>{document.hidden?d():l||p()},m=f=>{if(f.id&&(i=f.id),!f.data)return;let _=JSON.parse(f.data);if(f.type==="end")c(),n.end?.();else if(f.type==="error"){let h=new qe(_.status??500,_);xo(_.code)||(c(),n.error?.(h))}else n[f.type]?.(_,f.id)};async function p(){clearTimeout(u);let f=l=new AbortController,_=null,h=()=>{clearTimeout(_),_=setTimeout(()=>f.abort(),ss)};try{h();let w={Accept:"text/event-stream"};i&&(w["Last-Event-ID"]=i);let y=await fetch(e+Lt(t),{headers:w,signal:f.signal});if(!y.ok||!y.headers.get("Content-Type")?.startsWith("text/event-stream"))throw Ft(y,await y.json().catch(()=>null)),new qe(500,{message:"The answer is not a stream of events."});r=0,Ft(y,{}),n.open?.(s),s=!0,await is(y.body,O=>!o&&m(O),h)}catch(w){w instanceof qe?!w.offline&&!xo(w.code)&&w.status!==401?(c(),n.error?.(w)):w.status===401&&c():f.signal.aborted||gt("The connection to the server broke.")}finally{clearTimeout(_)}o||l!==f||(l=null,!document.hidden&&(r++,u=setTimeout(p,Math.min(as,500*r)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",$),document.hidden||p(),c}var xo=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function is(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),r="",s={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let u=(r+i).split(`
`);r=u.pop();for(let d of u){if(d.endsWith("\r")&&(d=d.slice(0,-1)),d===""){t(s),s={type:"message",id:"",data:""};continue}let c=d.indexOf(":");if(c<=0)continue;let $=d.slice(c+1).replace(/^ /,"");switch(d.slice(0,c)){case"event":s.type=$;break;case"id":s.id=$;break;case"data":s.data+=$}}}}var ls=1e4;function x(e,t,{every:n=0,keep:o=!1}={}){let[r,s]=g({}),[i,l]=g(0),u=z(je),d=JSON.stringify(t),c=V(e);c.current=e;let $=V(0);T(()=>{if(e===null)return;let f=new AbortController,_=h=>{f.signal.aborted||($.current=0,s(h))};return $.current=Date.now(),c.current(f.signal).then(h=>_({data:h,key:d}),h=>_(w=>({...w,error:h,failed:d}))),()=>f.abort()},[d,i,u,e===null]),T(()=>{if(!n)return;let f=setInterval(()=>document.hidden||Date.now()-$.current<ls||l(_=>_+1),n);return()=>clearInterval(f)},[n]);let m=r.key===d,p=r.failed===d?r.error:void 0;return{data:m||o?r.data:void 0,error:p,loading:!m&&!p,refresh:()=>l(f=>f+1),set:f=>s(_=>({..._,data:f(_.data)}))}}function Ae(e,t,n){let o=V(n);o.current=n;let r=JSON.stringify([e,t]);T(()=>{if(!e)return;let s=i=>(...l)=>o.current[i]?.(...l);return To(e,t,{message:s("message"),live:s("live"),missed:s("missed"),open:s("open"),error:s("error"),end:s("end")})},[r])}var gn=fe(0),So=null,Co=0;function Me(){return T(()=>(Co++===0&&(So=setInterval(()=>document.hidden||gn.set(gn.get()+1),1e3)),()=>{--Co===0&&clearInterval(So)}),[]),z(gn)}function Le(e,t){let n=V(e);n.current=e;let o=V(null);return T(()=>()=>clearTimeout(o.current),[]),()=>{o.current===null&&(o.current=setTimeout(()=>{o.current=null,n.current()},t))}}function Ht(e){let[t,n]=g(()=>matchMedia(e).matches);return T(()=>{let o=matchMedia(e),r=()=>n(o.matches);return o.addEventListener("change",r),()=>o.removeEventListener("change",r)},[e]),t}function ge({what:e="Reading"}){return a`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function R({title:e,children:t}){return a`<div class="empty"><p class="empty-title">${e}</p>${t&&a`<p>${t}</p>`}</div>`}var Do={PERMISSION_DENIED:"An administrator can grant you the role.",UNAUTHENTICATED:"Log in again."};function U({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return a`<div class="failure" role="alert">
    <p class="failure-text">${Ro(e.message)}</p>
    ${Do[e.code]&&a`<p>${Do[e.code]}</p>`}
    ${n.length>0&&a`<ul>${n.map(o=>a`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&a`<p>Whether a change was made is then not known. The activity page shows it. The same button again does nothing twice.</p>`}
    <p class="row">
      ${t&&a`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&a`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}var Ro=(e="")=>{let t=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?…]$/.test(t)?t:`${t}.`};function H({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?a`<${U} error=${e.error} retry=${e.refresh} />`:a`<${ge} what=${t} />`:a`${e.error&&!e.error.offline&&a`<${U} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function Oo(){let e=z(Ce);return Me(),e.online?a`<div role="status" class="sr-only"></div>`:a`<div class="offline" role="status">
    <strong>${Ro(e.message)}</strong>
    <span> What is shown is as of ${Ut(new Date(e.since))}. This page asks again every second, and recovers without you.</span>
  </div>`}var bt=fe([]),cs=0;function we(e,{tone:t="run",action:n}={}){bt.set([...bt.get().slice(-2),{id:++cs,text:e,tone:t,action:n}])}var _n=e=>bt.set(bt.get().filter(t=>t.id!==e));function us({id:e,text:t,tone:n,action:o}){return T(()=>{let r=setTimeout(()=>_n(e),o?3e4:12e3);return()=>clearTimeout(r)},[e]),a`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&a`<button type="button" onClick=${()=>(_n(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>_n(e)}>×</button>
  </div>`}function Ao(){let e=z(bt);return a`<div class="notices" role="status">${e.map(t=>a`<${us} key=${t.id} ...${t} />`)}</div>`}function q({role:e,semaphore:t,group:n,acquirer:o,why:r,kind:s="",children:i,onClick:l,type:u="button",...d}){let c=Eo(e,t,n,o),$=$t(),m=c||r;return a`<span class="action">
    <button
      type=${m?"button":u}
      class=${s}
      aria-disabled=${m?"true":void 0}
      aria-describedby=${m?$:void 0}
      onClick=${m?void 0:l}
      ...${d}
    >${i}</button>
    ${m&&a`<span class="why" role="tooltip" id=${$}>${m}</span>`}
  </span>`}function de({title:e,onClose:t,wide:n,children:o}){let r=V(null),s=$t();return ft(()=>{let i=document.activeElement,l=r.current;return l.showModal(),()=>{l.close(),i?.isConnected&&i.focus()}},[]),a`<dialog
    ref=${r}
    class=${n?"wide":""}
    aria-labelledby=${s}
    onCancel=${i=>(i.preventDefault(),t())}
    onMouseDown=${i=>i.target===r.current&&t()}
  >
    <div class="dialog-body">
      <header class="dialog-head">
        <h2 id=${s}>${e}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${t}>×</button>
      </header>
      ${o}
    </div>
  </dialog>`}function Io({label:e,help:t,error:n,children:o,class:r=""}){let s=$t(),i=[t&&`${s}-help`,n&&`${s}-error`].filter(Boolean).join(" ")||void 0;return a`<div class="field ${r}">
    <label for=${s}>${e}</label>
    ${o({id:s,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&a`<p class="help" id="${s}-help">${t}</p>`}
    ${n&&a`<p class="error" id="${s}-error" role="alert">${n}</p>`}
  </div>`}function P({label:e,help:t,error:n,value:o,onInput:r,area:s,class:i,...l}){return a`<${Io} label=${e} help=${t} error=${n} class=${i}>
    ${u=>s?a`<textarea rows=${s} value=${o} onInput=${d=>r(d.target.value)} ...${u} ...${l}></textarea>`:a`<input value=${o} onInput=${d=>r(d.target.value)} autocomplete="off" spellcheck=${!1} ...${u} ...${l} />`}
  <//>`}function Re({label:e,help:t,value:n,options:o,onChange:r,class:s}){return a`<${Io} label=${e} help=${t} class=${s}>
    ${i=>a`<select value=${n} onChange=${l=>r(l.target.value)} ...${i}>
      ${o.map(([l,u])=>a`<option value=${l} selected=${l===n}>${u}</option>`)}
    </select>`}
  <//>`}function pe({label:e,help:t,checked:n,onChange:o}){let r=$t();return a`<div class="check">
    <input type="checkbox" id=${r} checked=${n} aria-describedby=${t?`${r}-help`:void 0} onChange=${s=>o(s.target.checked)} />
    <label for=${r}>${e}</label>
    ${t&&a`<span class="help" id="${r}-help">${t}</span>`}
  </div>`}function lt({of:e,query:t="tab",label:n}){let[o]=F(),r=o.get(t)??e[0][0],s=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let u=l.toString();return location.pathname+(u?`?${u}`:"")};return a`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>a`<a href=${s(i)} aria-current=${i===r?"page":void 0}>${l}</a>`)}
  </nav>`}function No(e){let t=V(e);t.current=e,T(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let r=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);r&&o.key!=="Escape"||t.current[o.key]?.(o,r)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function I(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Wt=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work is missed: it is silent."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"Somebody waits in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"Somebody holds a permit."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"Nothing takes a slot."}],ps={value:"",word:"unknown",tone:"idle",help:""},Mo=e=>Wt.find(t=>t.value===e)??ps,yt=e=>Wt.filter(t=>e.states?.includes(t.value));function Lo(e){let t=yt(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${it(e.pause.until)}`:"paused":t?.word??"unknown"}function Bt(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(ds(e.pause)),e.missed&&t.push(ms(e.missed));for(let n of(e.denied??[]).slice(0,1))t.push(`${L(n.identity)} is denied: ${n.message}`);for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: as it is until ${M(n.until)}, then its value of before.`);return[...t,...e.warnings??[]]}function ds(e){let t=e.until?`Paused until ${M(e.until)}`:"Paused until it is resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${Q(A(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function ms(e){let t=I(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${I(e.reason,"REASON_")})`:""}`}var L=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Po(e){let t=I(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${Q(A(e.drain_left))}`);let n=I(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Fo=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function We(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var _e=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How much weight may be held at once. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What becomes of the slot of a permit that expired. hold: until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"Callers may take over from a holder that they judge dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work is expected to ask. Empty: nothing is expected."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What becomes of a firing whose permit was lost. free: it may be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What becomes of firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How long ago such a firing may have been due."}];function He(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return tt(n);case"choice":return I(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function vn(e,t){return _e.map(n=>({field:n,before:He(n,e),after:He(n,t)})).filter(n=>n.before!==n.after)}var bn=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(s=>`${s.acquirer} in ${s.group}`),r=t-o.length;return o.join(", ")+(r>0?` and ${b(r)} more`:"")};function jo(e=[]){let t=e.flatMap(s=>s.stopped??[]);if(t.length===0)return"No holder must stop.";let n=t.filter(s=>s.drain_left).length,o=[];t.length>n&&o.push(`${D(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let r=`${o.join(", ")}; every slot is free within ${Q(Math.max(...t.map(s=>A(s.free_within))))}.`;return r[0].toUpperCase()+r.slice(1)}function qo(e=[],t=[]){let n=new Map;for(let o of e)for(let r of o.warnings??[])n.set(r,[...n.get(r)??[],o.semaphore]);return[...t,...[...n].map(([o,r])=>`${Ue(r)}: ${o}`)]}var fs=e=>`${e.length===1?"change":"changes"} ${Ue(e,5)}`;function yn(e){let t=[];return e.group_pattern&&t.push(`group ${e.group_pattern}`),e.acquirer_pattern&&t.push(`acquirer ${e.acquirer_pattern}`),e.until&&t.push(`until ${M(e.until)}`),t.join(", ")}function Uo(e){let t=[],n=I(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${M(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${M(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${Q(A(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${yn(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let s=e.firings.firings.map(l=>We(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${D(s.length,"firing","firings")} ${i} (${Ue(s)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${fs([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${L(e.permit.identity)}, token ${e.permit.token}`);let r=I(e.missed,"MISSED_KIND_");return r&&t.push(r),e.drain&&t.push(`drain ${Q(A(e.drain))}`),[...new Set(t)].join("; ")}var $s={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},Ho=e=>$s[I(e,"EVENT_KIND_")]??"idle",Wo=e=>["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function wn(e){let t=I(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function W({caption:e,columns:t,rows:n,rowKey:o,empty:r,note:s,wide:i}){return n?.length?a`<div class=${i?"table-wrap wide":"table-wrap"}>
    <table>
      <caption class="sr-only">${e}</caption>
      <thead><tr>${t.map(([l,,u])=>a`<th scope="col" class=${u}>${l}</th>`)}</tr></thead>
      <tbody>
        ${n.map((l,u)=>a`<tr key=${o?o(l):u}>
          ${t.map(([d,c,$],m)=>m===0?a`<th scope="row" class=${$} data-label=${d}>${c(l)}</th>`:a`<td class=${$} data-label=${d}>${c(l)}</td>`)}
        </tr>`)}
      </tbody>
    </table>
    ${s&&a`<p class="faint">${s}</p>`}
  </div>`:r??a`<${R} title="Nothing here." />`}function Ie({of:e}){return a`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>a`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function ke({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return a`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function Kt({at:e,of:t,what:n="expires unless it is refreshed"}){if(Me(),!e)return a`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),r=t&&o/t<.34;return a`<span class="deadline" title=${n}>
    ${t>0&&a`<${ke} share=${o/t} tone=${r?"wait":"run"} label="${at(o)} left" />`}
    <span class="num">${at(o)}</span>
  </span>`}function le({at:e}){return Me(),e?a`<time class="num" datetime=${e} title=${new Date(e).toLocaleString()}>${at(st()-Date.parse(e))}</time>`:"–"}function Bo({parts:e,total:t,label:n}){let o=0;return a`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([r])=>r>0).map(([r,s])=>{let i=t?1e3*r/t:0,l=a`<rect class="fill-${s}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var Be=50;function kn({before:e,after:t}){if(!e&&!t)return null;if(!e)return a`<span>created</span>`;if(!t)return a`<span>deleted</span>`;let n=vn(e,t);return n.length===0?a`<span class="faint">–</span>`:a`<ul class="changes">
    ${n.map(o=>a`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function hs({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:a`<section>
    <h3>Must stop</h3>
    <${W}
      caption="Holders that must stop"
      rows=${t.slice(0,Be)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>L(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>a`<${le} at=${n.permit.granted_at} />`,"num"],["Free within",n=>Q(A(n.free_within))+(n.drain_left?` (its drain had ${Q(A(n.drain_left))} left)`:""),"num"]]}
      note=${t.length>Be&&`and ${b(t.length-Be)} more`}
    />
  </section>`}function Ko({of:e}){let t=e.effects??[],n=t.filter(i=>i.total_admitted||i.total_shut_out||!i.before!=!i.after||vn(i.before,i.after).length),o=qo(t,e.warnings),r=t.flatMap(i=>i.held??[]),s=t.filter(i=>Number(i.waiting_tasks));return a`<div class="effects">
    <p class="lead">${jo(t)}</p>
    ${e.confirm?.length>0&&a`<ul class="confirm">${e.confirm.map(i=>a`<li>${i.text}</li>`)}</ul>`}
    ${o.length>0&&a`<ul class="warnings">${o.slice(0,20).map(i=>a`<li>${i}</li>`)}</ul>`}
    ${n.length>0&&a`<section>
      <h3>${D(n.length,"semaphore changes","semaphores change")}</h3>
      <${W}
        caption="Semaphores that change"
        rows=${n.slice(0,Be)}
        rowKey=${i=>i.semaphore}
        columns=${[["Semaphore",i=>i.semaphore,"name"],["Changes",i=>a`<${kn} before=${i.before} after=${i.after} />`],["Lets in",i=>bn(i.admitted,i.total_admitted??0)||"–"],["Shuts out",i=>bn(i.shut_out,i.total_shut_out??0)||"–"],["Stops",i=>b(i.stopped?.length),"num"],["Continue",i=>b(i.unaffected),"num"]]}
        note=${n.length>Be&&`and ${b(n.length-Be)} more`}
      />
    </section>`}
    <${hs} effects=${t} />
    ${r.length>0&&a`<section><h3>Held for an operator</h3>
      <ul>${r.slice(0,Be).map(i=>a`<li>${i.semaphore}: the permit of ${L(i.identity)} (token ${i.token}) expired. Its slot stays taken until it is cleared.</li>`)}</ul>
    </section>`}
    ${s.length>0&&a`<ul>${s.slice(0,Be).map(i=>a`<li>${i.semaphore}: ${D(i.waiting_tasks,"task waits","tasks wait")} for a worker${i.tasks_run?`; after this change, ${i.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function ve(e){let{title:t,verb:n,kind:o,preview:r,run:s,done:i,onClose:l,onDone:u,onError:d,role:c,semaphore:$,nothing:m,deps:p,extra:f,children:_}=e,[h,w]=g(0),y=x(r,[t,h,p],{keep:!0}),O=y.loading||y.error,[N,k]=g(""),[Y,se]=g(!1),[oe,ce]=g(null),G=V(null),J=y.data&&m?.(y.data);T(()=>{y.error&&d?.(y.error)&&l()},[y.error]),T(()=>{G.current=null},[JSON.stringify(p)]);let re=()=>{G.current=null,ce(null),w(h+1)};async function v(ae){if(ae.preventDefault(),!(Y||O||J)){se(!0),ce(null),G.current??=Pt();try{let j=await s({reason:N,...he(),...G.current},y.data),E=j.revision??j.change,B=E&&E!=="0"?{text:"Undo",run:()=>nt(E)}:void 0;we(i(j),{action:B}),u?.(j,y.data),l()}catch(j){j.code!=="UNAVAILABLE"&&(G.current=null),ce(j),se(!1),d?.(j)&&l()}}}return a`<${de} title=${t} onClose=${l} wide>
    <form onSubmit=${v}>
      ${_}
      <${H} of=${y} what="Asking what this would do">
        ${ae=>a`${f?.(ae)}<${Ko} of=${ae} />${ae.notes?.length>0&&a`<ul>${ae.notes.map(j=>a`<li>${j}</li>`)}</ul>`}
        ${J&&a`<p class="lead">${J}</p>`}`}
      <//>
      <${P} label="Reason" help="For the journal: why you do this." value=${N} onInput=${k} maxlength="1024" />
      ${oe&&a`<${U} error=${oe} retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(oe.reason)?re:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${q} role=${c} semaphore=${$} type="submit" kind=${o??"primary"} why=${O?"There is no preview yet.":J}>
          ${Y?"Working …":typeof n=="function"?n(y.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var En=fe(null);function nt(e,t){En.set({change:String(e),onDone:t})}function zo(){let e=z(En);return e?a`<${ve}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb="Undo it"
    preview=${()=>C("/v1/undo",{change:e.change,dry_run:!0,...he()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`It was undone already, by change ${t.undone_by}.`:t.nothing?"Nothing is left to undo.":""}
    run=${(t,n)=>C("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} is undone.`}
    onDone=${e.onDone}
    onClose=${()=>En.set(null)}
  />`:null}var gs=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],xn=It("theme","auto");xn.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function _s(){let e=z(xn),t={auto:"light",light:"dark",dark:"auto"}[e];return a`<button type="button" class="plain" onClick=${()=>xn.set(t)} title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" /><path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var vs=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","These keys"]];function bs({onClose:e}){return a`<${de} title="Keys" onClose=${e}>
    <dl class="keys">${vs.map(([t,n])=>a`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function ys(){let e=z(De),t=z(qt),[n,o]=g(!1);if(!e)return null;let r=e.authenticated?e.principal||e.credential:t||"dashboard";return a`<button type="button" class="plain who" onClick=${()=>o(!0)}><span class="sr-only">You are </span>${r}</button>
    ${n&&a`<${de} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?a`<p>The servers see you as <strong>${e.principal}</strong>, by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button" onClick=${()=>ko().catch(()=>{}).then(()=>$e("/login"))}>Log out</button></p>`:a`<p>These servers do not authenticate callers: everybody may do everything.</p>
            <${P} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it." value=${t} onInput=${s=>qt.set(s)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function ws(){let e=x(o=>S("/v1/status",{},o),["status"],{every:1e4,keep:!0}),t=z(Ce).online,n=e.data;return t?n?a`<a class="leader" href="/cluster">
    ${n.leader_id?a`<span class="lamp tone-run" aria-hidden="true"></span><span>${n.leader_id}<span class="long"> leads</span></span>`:a`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:a`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`:a`<a class="leader" href="/cluster"><span class="lamp tone-deny" aria-hidden="true"></span>no answer</a>`}var ks={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function zt({children:e,bare:t}){let n=z(Ze).split("?")[0],[o,r]=g(!1),s=V(null),i=V(!0),l=V(0);return T(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),s.current?.querySelector("h1")?.focus()},[n]),No({"?":()=>r(!0),"/":u=>{let d=document.querySelector("[data-search]");d&&(u.preventDefault(),d.focus(),d.select())},Escape:(u,d)=>{d?u.target.blur():n!=="/"&&_o()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(ks).map(([u,d])=>[u,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${d}"]`)?.click()]))}),a`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&a`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" /><span>Gatekeeper</span></a>
      <nav class="nav" aria-label="Views">
        ${gs.map(([u,d])=>{let c=u==="/"?n==="/"||n.startsWith("/s/"):n===u||n.startsWith(`${u}/`);return a`<a href=${u} aria-current=${c?"page":void 0}>${d}</a>`})}
      </nav>
      <div class="tools">
        <${ws} />
        <${ys} />
        <${_s} />
        <button type="button" class="plain" onClick=${()=>r(!0)} title="Keys"><span aria-hidden="true">?</span><span class="sr-only">Keys</span></button>
      </div>
    </header>`}
    <${Oo} />
    <main id="main" tabindex="-1" ref=${s}>${e}</main>
    <${Ao} />
    <${zo} />
    ${o&&a`<${bs} onClose=${()=>r(!1)} />`}`}function X({children:e,aside:t}){return a`<div class="title"><h1 tabindex="-1">${e}</h1>${t&&a`<div class="row">${t}</div>`}</div>`}var Vo=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens"]];function Es(){let[e,t]=g({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=g(null),[r,s]=g(null);return a`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),C("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(u=>(o(u),s(null)),s)}}>
      <${Re} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${Vo.map(([l])=>[`ROLE_${l.toUpperCase()}`,l])} />
      <${P} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})} help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?a`<p class="lead tone-run">Yes.</p>`:a`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${r&&a`<${U} error=${r} />`}
  </section>`}function xs(){let e=x(t=>S("/v1/bindings",{},t),["bindings"]);return e.error?e.error.code==="PERMISSION_DENIED"?a`<${R} title="Only administrators see who may do what." />`:a`<${U} error=${e.error} retry=${e.refresh} />`:e.data?a`<${W}
      caption="Bindings"
      rows=${e.data.bindings}
      rowKey=${t=>t.name}
      empty=${a`<${R} title="There are no bindings." />`}
      columns=${[["Name",t=>t.name,"name"],["Subjects",t=>(t.subjects??[]).join(", ")||"–","name"],["May",t=>a`<ul class="changes">${(t.grants??[]).map(n=>a`<li>${wn(n)}</li>`)}</ul>`],["Tokens",t=>(t.tokens??[]).map(n=>`${n.id}${n.expires_at?` until ${M(n.expires_at)}`:""}`).join(", ")||"–"],["Changed",t=>`${M(t.updated_at)}${t.updated_by?` by ${t.updated_by}`:""}`,"num"]]}
    />
    <p class="faint">Change them with <code>gkctl auth bind</code>, <code>unbind</code> and <code>token</code>.</p>`:a`<${ge} what="Reading the bindings" />`}function Jo(){ne("Access");let e=z(De);return a`<${X}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?a`<${Ie} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map(wn).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:a`<p>These servers do not authenticate callers: everybody may do everything.</p>`:a`<${ge} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${Es} />
        <section class="panel"><h2>Roles</h2>
          <${W} caption="Roles" rows=${Vo} columns=${[["Role",t=>t[0]],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><h2>Who may do what</h2><${xs} /></section>
    </div>`}var Ts=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],Ss=e=>Ts.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function wt({entries:e,semaphore:t,onChange:n}){let o="";return a`<ol class="entries">
    ${e.map(r=>{let s=r.revision!==o;return o=r.revision,a`<li key=${`${r.revision}.${r.ordinal??0}`} class=${s?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${r.at} title=${M(r.at)}>${it(r.at)}</time>
          <span class="tag tone-${Ho(r.kind)}">${I(r.kind,"EVENT_KIND_")}</span>
          ${!t&&r.semaphore&&a`<a class="mono" href=${`/s/${encodeURIComponent(r.semaphore)}`}>${r.semaphore}</a>`}
          <span class="grow">${Uo(r)}</span>
          <span class="faint"><a href=${`/activity?change=${r.revision}`}>change ${r.revision}</a>${r.author&&` by ${r.author}`}</span>
          ${s&&Wo(r)&&a`<${q} role=${Ss(r.kind)} semaphore=${r.semaphore??""} onClick=${()=>nt(r.revision,n)}>Undo …<//>`}
        </div>
        ${r.reason&&a`<p class="entry-reason">${r.reason}</p>`}
        ${r.before&&r.after&&a`<${kn} before=${r.before} after=${r.after} />`}
      </li>`})}
  </ol>`}function Go(){ne("Activity");let[e,t]=F(),n=e.get("change")??"";return a`<${X} aside=${n&&a`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?a`<${Rs} change=${n} />`:a`<${Ds} params=${e} change=${t} />`}`}var Cs=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function Ds({params:e,change:t}){let[n,o]=Se(e.get("q")??"",h=>t({q:h}),300),[r,s]=Se(e.get("labels")??"",h=>t({labels:h}),400),i=e.get("permits")==="1",l=e.get("by")??"",[u,d]=Se(l,h=>t({by:h}),300),[c,$]=g(50),m={names:Cs(e.get("q")??""),labels:e.get("labels")??"",permits:i},p=x(h=>S("/v1/history",{...m,page_size:c},h),["journal",m,c],{every:15e3,keep:!0}),f=Le(p.refresh,i?500:60);Ae("/v1/watch",m,{message:({events:h=[]})=>h.length&&f(),missed:f,open:h=>h&&f()});let _=(p.data?.entries??[]).filter(h=>!l||(h.author??"").toLowerCase().includes(l.toLowerCase()));return a`<form class="filters" role="search" onSubmit=${h=>h.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label><input id="activity-q" data-search value=${n} onInput=${h=>o(h.target.value)} placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label><input id="activity-by" value=${u} onInput=${h=>d(h.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label><input id="activity-labels" value=${r} onInput=${h=>s(h.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <${pe} label="Also how permits ended" checked=${i} onChange=${h=>t({permits:h?"1":""})} />
    </form>
    <section class="panel">
      <${H} of=${p} what="Reading the journal">
        ${h=>a`
          ${_.length?a`<${wt} entries=${_} onChange=${p.refresh} />`:a`<${R} title="The journal has nothing of that.">Edits, pauses, cordons and undos appear here as they happen.<//>`}
          ${h.next_page_token&&c<1e3&&a`<p class="row"><button type="button" onClick=${()=>$(Math.min(1e3,c*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function Rs({change:e}){let t=x(n=>S("/v1/history",{change:e,page_size:1e3},n),["change",e]);return a`<section class="panel">
    <${H} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:r})=>a`
        ${o&&a`<p class="note">The journal has forgotten a part of this change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?a`<${wt} entries=${n} onChange=${t.refresh} />`:a`<${R} title=${`The journal has no change ${e}.`} />`}
        ${r&&a`<p class="faint">Only its first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&a`<p><a href=${`/activity?change=${n[0].undoes}`}>The change that it undoes</a></p>`}`}
    <//>
  </section>`}var Vt="M4 14V2",Qo={idle:[Vt,"M4 4l8-2"],running:[Vt,"M4 3l9 4v-3l-9-2z"],waiting:[Vt,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[Vt,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function kt({word:e}){let t=Qo[e]??Qo.idle;return a`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>a`<path d=${n} />`)}
  </svg>`}function Et({value:e,text:t}){let n=Mo(e);return a`<span class="state tone-${n.tone}"><${kt} word=${n.word} /><span>${t??n.word}</span></span>`}function Yo({record:e}){let t=yt(e)[0];return a`<${Et} value=${t?.value} text=${Lo(e)} />`}function Jt({tone:e="idle",children:t}){return a`<span class="tag tone-${e}">${t}</span>`}var Os=864e5,Zo=1e3,er=e=>e?.role==="SERVER_ROLE_LEADER",tr=e=>e.map(t=>t.status).filter(er).sort((t,n)=>Number(n.term)-Number(t.term))[0],nr=e=>e.port==="CERTIFICATE_PORT_API"?"API":I(e.port,"CERTIFICATE_PORT_"),Gt=e=>A(e)<0?`${Te(-A(e))} behind`:`${Te(A(e))} ahead`;function or(e){if(e.error)return["deny",e.error];let t=Date.parse(e.not_after)-st();if(t<=0)return["deny","has ended"];let n=Math.floor(t/Os);return[n<7?"deny":n<30?"wait":"",n<1?`ends in ${Q(t)}`:`ends in ${D(n,"day","days")}`]}function As(e,t){if(!e.status)return[["deny",`does not answer: ${e.error}`]];let n=(e.status.certificates??[]).map(o=>[o,...or(o)]).filter(([,o])=>o);return[Number(e.lag??0)>=Zo&&["wait","lagging"],...n.map(([o,r,s])=>[r,`${nr(o)} certificate ${o.error?"cannot be used":s}`]),t&&["stop",`clock is ${Gt(t.ahead)}`],e.status.insecure&&["stop","started with --insecure"]].filter(Boolean)}var Is={run:"running",wait:"waiting",stop:"missed",deny:"denied"};function Ns({of:e}){return(e.length?e:[["run","well"]]).map(([t,n])=>a`<div class="state tone-${t}"><${kt} word=${Is[t]} /><span>${n}</span></div>`)}function Ms(e){return e.status?er(e.status)?a`<strong class="tone-run">leader</strong>`:e.voter?I(e.status.role,"SERVER_ROLE_")||"stopping":"non-voter":e.voter?"voter":"non-voter"}var Xo=e=>Te(+(parseFloat(e??"0")*1e3).toFixed(2));function rr(e,t){let n=r=>s=>s.status?r(s.status,s):a`<span class="faint">–</span>`,o=r=>t?.find(s=>s.id===r.id);return[["Server",r=>a`${r.id}${r.id===e&&a`<span class="faint"> (answers you)</span>`}
      <span class="under">${r.api_address||"API address not known"}<br />${r.peer_address} (peers)</span>`,"name"],["State",r=>a`<${Ns} of=${As(r,o(r))} />`],["Role",Ms,"whole"],["Term",n(r=>r.term),"num"],["Entries behind",n((r,s)=>s.lag===void 0?"not known":a`<span class=${Number(s.lag)>=Zo?"tone-wait":""}>${b(s.lag)}</span>`),"num"],["Log writes",n(r=>r.log_writes?a`${Xo(r.log_writes.median)}<span class="under">${Xo(r.log_writes.longest)} longest</span>`:"none yet"),"num"],["Snapshot",n(({last_snapshot:r})=>r?a`${r.taken_at?a`<${le} at=${r.taken_at} /> ago`:`index ${r.index}`}<span class="under">${ye(r.bytes)}</span>`:"none yet"),"num"],["Version",n(r=>a`${r.version||"–"}<span class="under">level ${r.feature_level}</span>`),"whole"],["Up for",n(r=>r.uptime&&Q(A(r.uptime))),"num"],["Clock",n((r,s)=>t?o(s)?a`<span class="tone-stop">${Gt(o(s).ahead)}</span>`:"in step":"not known"),"num"]]}function sr({of:e}){let t=e.flatMap(o=>(o.status?.certificates??[]).map(r=>({...r,server:o.id}))),n=e.filter(o=>!o.status).map(o=>o.id);return a`<section class="panel">
    <h2>Certificates</h2>
    <${W}
      caption="Certificates of the servers"
      rows=${t}
      rowKey=${o=>`${o.server} ${o.port}`}
      empty=${a`<${R} title="No server that answers uses TLS." />`}
      columns=${[["Server",o=>o.server,"name"],["Port",nr],["Subject",o=>o.subject||"–","name"],["Ends",o=>{let[r,s]=or(o);return a`<span class=${r&&`tone-${r}`}>${o.error?s:a`${M(o.not_after)}, ${s}`}</span>`}]]}
      note=${n.length>0&&`Those of ${n.join(", ")} are not known.`}
    />
  </section>`}var Ls=()=>x(e=>S("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function Ke(){let e=Ls(),[t,n]=g(null),o=e.data?.cordons??[];if(o.length===0)return null;let r=s=>C("/v1/uncordon",{id:s.id,...he(),...Pt()}).then(i=>{we(`Cordon ${s.id} is ended.`,{action:{text:"Undo",run:()=>nt(i.revision,e.refresh)}}),n(null),e.refresh()},n);return a`<section class="cordons" aria-label="Cordons in force">
    <${U} error=${t} />
    <ul>
      ${o.map(s=>a`<li key=${s.id}>
          <span class="state tone-deny"><${kt} word="cordoned" />cordoned</span>
          <span class="grow">${yn(s)}${s.reason&&`: ${s.reason}`}${s.author&&a`<span class="faint"> by ${s.author}</span>`}</span>
          <${q} role="ROLE_OPERATOR" onClick=${()=>r(s)}>End it<//>
        </li>`)}
    </ul>
  </section>`}function Ps({member:e,onClose:t,onDone:n}){let[o,r]=g(null);return a`<${de} title="Hand leadership over" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),C("/v1/leadership:transfer",{id:e.id}).then(l=>{we(`${l.leader_id} leads.`),n(),t()},r)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${U} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function Fs({of:e,id:t,clocks:n,onChange:o}){let[r,s]=g(null);return a`<section class="panel">
    <h2>Members</h2>
    <${W}
      caption="Members"
      rows=${e}
      rowKey=${i=>i.id}
      wide
      columns=${[...rr(t,n),["",i=>i.voter&&!i.leader&&a`<${q} role="ROLE_ADMIN" onClick=${()=>s(i)}>Let it lead …<//>`,"end"]]}
    />
    ${r&&a`<${Ps} member=${r} onClose=${()=>s(null)} onDone=${o} />`}
  </section>`}function js({leader:e}){let t=[...(e?.member_clocks??[]).map(n=>({name:`server ${n.id}`,ahead:n.ahead})),...(e?.host_clocks??[]).map(n=>({name:L(n),ahead:n.ahead,seen:n.seen}))];return a`<section class="panel">
    <h2>Clocks</h2>
    <${W}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${a`<${R} title=${e?"No clock is off.":"Only the leader compares clocks, and it does not answer."} />`}
      columns=${[["Whose",n=>n.name,"name"],["Off by",n=>a`<span class="tone-stop">${Gt(n.ahead)}</span>`,"num"],["Seen",n=>n.seen?a`<${le} at=${n.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function qs({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return a`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${ke} share=${n?t/n:0} label="${ye(t)} of ${ye(n)}" /><span class="num">${ye(t)} of ${ye(n)}</span></p>
    <${W}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${a`<${R} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>a`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>b(o.jobs),"num"],["Waiting",o=>b(o.waiting),"num"],["Running",o=>b(o.held),"num"],["Stored",o=>ye(o.bytes),"num"]]}
    />
  </section>`}function Us(){let e=x(n=>S("/v1/settings",{stale:!0},n),["settings"]),t=(n,o)=>typeof o=="string"&&/s$/.test(o)?Te(A(o)):/bytes/.test(n)?ye(o):b(o);return a`<section class="panel">
    <h2>Settings</h2>
    <${H} of=${e} what="Reading the settings">
      ${n=>a`<${Ie} of=${Object.entries(n.settings??{}).map(([o,r])=>[o,t(o,r)])} />
        <p class="faint">Change them with <code>gkctl cluster settings NAME=VALUE</code>.</p>`}
    <//>
  </section>`}function ar(){ne("Cluster");let e=x(t=>S("/v1/members",{},t),["members"],{every:3e3,keep:!0});return a`<${X}>Cluster<//>
    <${Ke} />
    <${H} of=${e} what="Asking the servers">
      ${t=>{let n=t.members.map(i=>({...i.member,...i})),o=tr(n),r=o??n.find(i=>i.id===t.id)?.status??n.find(i=>i.status)?.status??{},s=n.filter(i=>i.status?.insecure).map(i=>i.id);return a`<div class="stack">
          ${!r.leader_id&&a`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority of the servers is there.</p>`}
          ${r.recovery_wait&&a`<p class="note">Nothing is granted for another ${Q(A(r.recovery_wait))}: a recovery is being waited out.</p>`}
          ${s.length>0&&a`<p class="note">Started with --insecure: ${s.join(", ")}. The ports may be reached without TLS and authentication.</p>`}
          ${r.denied_semaphores>0&&a`<div class="note"><p>${D(r.denied_semaphores,"semaphore is","semaphores are")} asked for in vain:</p>
            <ul>${r.denied.map(i=>a`<li key=${i.semaphore}><a href=${`/s/${encodeURIComponent(i.semaphore)}`}>${i.semaphore}</a>: ${i.text||i.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>State</h2>
            <${Ie} of=${[["Cluster",a`<code>${r.cluster_id}</code>`],["Leader",r.leader_id?a`${r.leader_id}${!o&&a`<span class="tone-deny"> (does not answer)</span>`}`:"none"],["Servers",`${b(n.filter(i=>i.status).length)} of ${b(n.length)} answer`],["Revision",r.revision],["Definitions",b(r.definitions)],["Permits",b(r.permits)],["Waiters",o?b(r.waiters):"only the leader knows"],["Smallest safe duration",r.smallest_duration&&Te(A(r.smallest_duration))]]} />
          </section>
          <${Fs} of=${n} id=${t.id} clocks=${o&&(o.member_clocks??[])} onChange=${e.refresh} />
          <div class="panels">
            <${sr} of=${n} />
            <${js} leader=${o} />
            <${qs} status=${r} />
          </div>
          <${Us} />
        </div>`}}
    <//>`}var Tn=e=>e.failed?"deny":e.over?"run":I(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",Sn=e=>{let t=I(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},Cn=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${b(e[t])} ${t}`).join(", ");function Dn({job:e}){let t=e.tasks??0,n=`${b(e.done)} of ${D(t,"task","tasks")} done`;return a`<div class="job-progress">
    <${Bo}
      total=${t}
      label="${n}; ${Cn(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function Rn({jobs:e}){return a`<${W}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>a`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>a`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>a`<span class="tag tone-${Tn(t)}">${Sn(t)}</span>`],["Progress",t=>a`<${Dn} job=${t} />`],["Failed",t=>t.failed?a`<strong class="tone-deny">${b(t.failed)}</strong>`:"0","num"],["Submitted",t=>a`<span title=${M(t.submitted_at)}><${le} at=${t.submitted_at} /> ago</span>${t.spec.author&&a`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>ye(t.bytes),"num"]]}
  />`}function ir(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${I(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var Hs=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${Q(A(e.expires_in))}`:"";function On({data:e}){let t=[...e.workers??[],...e.away??[]];return a`<${W}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${L(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${a`<${R} title="Nobody works.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>L(n.identity),"name"],["Semaphore",n=>a`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>a`<span class="tag tone-${ir(n)[1]}">${ir(n)[0]}</span>`],["Free",n=>b(n.free),"num"],["Tasks",n=>n.tasks?.length?a`<ul class="held">${n.tasks.slice(0,8).map(o=>a`<li key=${o.token}><a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${b(o.index)}, for <${le} at=${o.granted_at} />
                ${o.progress&&a` <${ke} share=${o.progress.fraction} label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${Hs(o)}</li>`)}${n.tasks.length>8&&a`<li>and ${b(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var Ws=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function Bs(){let[e,t]=F(),[n,o]=Se(e.get("semaphore")??"",c=>t({semaphore:c}),300),[r,s]=Se(e.get("labels")??"",c=>t({labels:c}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,u]=g(""),d=x(c=>S("/v1/jobs",{...i,page_size:100,page_token:l},c),["jobs",i,l],{every:2e3,keep:!0});return a`<form class="filters" role="search" onSubmit=${c=>c.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label><input id="job-semaphore" data-search value=${n} onInput=${c=>o(c.target.value)} spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label><input id="job-labels" value=${r} onInput=${c=>s(c.target.value)} placeholder="team=billing" spellcheck=${!1} /></div>
      <${Re} label="State" value=${e.get("state")??""} onChange=${c=>t({state:c})} options=${Ws} />
    </form>
    <section class="panel">
      <${H} of=${d} what="Reading the jobs">
        ${c=>a`
          ${c.jobs?.length?a`<${Rn} jobs=${c.jobs} />`:a`<${R} title="No job matches.">Jobs are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&a`<button type="button" onClick=${()=>u("")}>First page</button>`}
            ${c.next_page_token&&a`<button type="button" onClick=${()=>u(c.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function Ks(){let e=x(t=>S("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return a`<section class="panel"><${H} of=${e} what="Reading the workers">${t=>a`<${On} data=${t} />`}<//></section>`}function lr(){ne("Jobs");let[e]=F();return a`<${X}>Jobs<//>
    <${lt} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?a`<${Ks} />`:a`<${Bs} />`}`}function Qt({title:e,text:t,verb:n,run:o,done:r,onClose:s,onDone:i,reason:l}){let[u,d]=g(""),[c,$]=g(null),[m,p]=g(!1);return a`<${de} title=${e} onClose=${s}>
    <form onSubmit=${async _=>{if(_.preventDefault(),!m){p(!0);try{we(r(await o(u))),i(),s()}catch(h){$(h),p(!1)}}}}>
      <p>${t}</p>
      ${l&&a`<${P} label="Reason" value=${u} onInput=${d} maxlength="1024" />`}
      <${U} error=${c} />
      <p class="row end"><button type="button" onClick=${s}>Cancel</button><button class="primary">${m?"Working …":n}</button></p>
    </form>
  <//>`}function zs({job:e,onChange:t}){let[n,o]=g(""),{id:r,semaphore:s}=e.spec,i=I(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},u=(d,c,$)=>a`<${q} role="ROLE_OPERATOR" semaphore=${s} why=${$} onClick=${()=>o(d)}>${c}<//>`;return a`
    ${u("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${u("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${u("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${u("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&a`<${Qt} ...${l} title="Retry failed tasks" verb="Retry" text=${`${D(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>C(ie`/v1/jobs/${r}:retry`,{as_of:e.revision})} done=${d=>`${D(d.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&a`<${Qt} ...${l} title="Drop failed tasks" verb="Drop" text=${`${D(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>C(ie`/v1/jobs/${r}:drop`,{as_of:e.revision})} done=${d=>`${D(d.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&a`<${Qt} ...${l} title=${`Cancel ${r}`} verb="Cancel the job" reason
      text=${`${D(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${D(e.held??0,"running task stops","running tasks stop")}.`}
      run=${d=>C(ie`/v1/jobs/${r}:cancel`,{reason:d,submitted_revision:e.submitted_revision,...he()})} done=${()=>`${r} is cancelled.`} />`}
    ${n==="delete"&&a`<${Qt} ...${l} title=${`Delete ${r}`} verb="Delete the job" text="The job is removed with its results."
      run=${()=>et("DELETE",ie`/v1/jobs/${r}`,{query:{submitted_revision:e.submitted_revision}})} done=${()=>`${r} is deleted.`} onDone=${()=>$e("/jobs")} />`}`}var cr={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},Vs=[["","any"],...Object.keys(cr).map(e=>[e,e])];function Js({job:e,index:t,onClose:n}){let o=x(r=>S(ie`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},r),["task",e,t]);return a`<${de} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${H} of=${o} what="Reading the task">
      ${r=>{let s=r.tasks?.[0];return s?a`<${Ie} of=${[["State",I(s.state,"TASK_STATE_")],["Attempts",b(s.attempts)],["Worker",s.worker&&L(s.worker)],["Token",s.token],["Returned unfinished",s.returns]]} />
          ${s.failure&&a`<h3>Failure</h3><pre>${s.failure}</pre>`}
          <h3>Payload</h3><pre>${hn(s.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${hn(s.result)||"(none)"}</pre>`:a`<${R} title="There is no such task." />`}}
    <//>
  <//>`}function Gs({id:e,round:t}){let[n,o]=F(),r=n.get("task")??"",[s,i]=g(0),[l,u]=g(null),d={states:r?[`TASK_STATE_${r.toUpperCase()}`]:[],from:s,page_size:100},c=x($=>S(ie`/v1/jobs/${e}/tasks`,d,$),["tasks",e,d,t],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${Re} label="In state" value=${r} onChange=${$=>(i(0),o({task:$}))} options=${Vs} /></div>
    <${H} of=${c} what="Reading the tasks">
      ${$=>a`<${W}
          caption="Tasks"
          rows=${$.tasks}
          rowKey=${m=>m.index??0}
          empty=${a`<${R} title="No task is in that state." />`}
          columns=${[["Task",m=>a`<button type="button" class="plain" onClick=${()=>u(m.index??0)}>${b(m.index)}<span class="sr-only">: show payload and result</span></button>`,"num"],["State",m=>a`<span class="tag tone-${cr[I(m.state,"TASK_STATE_")]}">${I(m.state,"TASK_STATE_")}</span>`],["Attempts",m=>b(m.attempts),"num"],["Worker",m=>m.worker?L(m.worker):"–","name"],["Progress",m=>m.progress?a`<${ke} share=${m.progress.fraction} label=${`${Math.round(100*(m.progress.fraction??0))} %`} /> ${m.progress.text}`:"–"],["Failure",m=>m.failure||"–"]]}
        />
        <p class="row end">
          ${s>0&&a`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${$.next>0&&a`<button type="button" onClick=${()=>i($.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&a`<${Js} job=${e} index=${l} onClose=${()=>u(null)} />`}
  </section>`}function ur({name:e}){ne(e);let t=x(d=>S(ie`/v1/jobs/${e}`,{},d),["job",e],{every:15e3}),[n,o]=g(0),r=Le(()=>o(d=>d+1),1e3),[s,i]=g(null),l=()=>{t.refresh(),r(),i(null)},u=t.data?.job;return T(()=>{u&&!u.over&&s===null&&i(u.revision)},[u?.over,s]),Ae(s!==null?ie`/v1/jobs/${e}:follow`:null,{after_revision:s},{message(d){d.job&&t.set(()=>({job:d.job})),r()},end:l}),t.error?.code==="NOT_FOUND"?a`<${X}>${e}<//><${R} title="There is no job of this id.">It may have been deleted, or kept for its time. <a href="/jobs">All jobs</a><//>`:u?a`<${X} aside=${a`<${zs} job=${u} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${Tn(u)}">${Sn(u)}</span><span>${Cn(u)}</span></p>
        <${Dn} job=${u} />
        ${u.cancel_text&&a`<p class="note">Cancelled ${u.cancel_text}</p>`}
        <${Ie} of=${[["Semaphore",a`<a href=${`/s/${encodeURIComponent(u.spec.semaphore)}`}>${u.spec.semaphore}</a>`],["Submitted",`${M(u.submitted_at)}${u.spec.author?` by ${u.spec.author}`:""}`],["Ended",u.ended_at&&`${M(u.ended_at)}, after ${Q(Date.parse(u.ended_at)-Date.parse(u.submitted_at))}`],["Priority",u.spec.priority],["Attempts of a task",u.spec.max_attempts],["Timeout",tt(u.spec.timeout)],["Kept after its end",tt(u.spec.retention)],["Stored",ye(u.bytes)],["Labels",Object.entries(u.spec.labels??{}).map(([d,c])=>`${d}=${c}`).join(", ")]]} />
      </section>
      <${Gs} id=${e} round=${n} />
    </div>`:a`<${X}>${e}<//>${t.error&&!t.error.offline?a`<${U} error=${t.error} retry=${t.refresh} />`:a`<${ge} what="Reading the job" />`}`}function pr(){ne("Log in");let[e]=F(),[t,n]=g(""),[o,r]=g(null),[s,i]=g(!1),l=e.get("next")??"/";return a`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${X}>Log in to Gatekeeper<//>
    <form onSubmit=${async d=>{d.preventDefault(),i(!0);try{await wo(t.trim()),$e(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(c){r(c),i(!1)}}}>
      <${P}
        label="Bearer token"
        help="From gkctl auth token create. It stays in this browser as a cookie that scripts cannot read, for 12 hours."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&a`<${U} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary" disabled=${s||!t.trim()}>${s?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}function dr({change:e,effects:t,onEnd:n}){let o=me(()=>t.flatMap(f=>f.stopped??[]),[t]),r=me(()=>Date.now(),[e]),[s,i]=g({});Me();let l=o.filter(f=>!s[f.permit.token]),u=[...new Set(l.map(f=>f.permit.semaphore))],d=me(()=>u.length<=40?u:[],[e]),c=f=>f.length&&i(_=>({...Object.fromEntries(f),..._})),$=async()=>{let{items:f}=await xe("/v1/holders",{names:d},"permits",void 0,1e5),_=new Map(f.map(h=>[h.token,h]));c(o.filter(h=>!_.has(h.permit.token)).map(h=>[h.permit.token,{how:"gone",after:Date.now()-r}]))};if(Ae(o.length?"/v1/watch":null,{names:d,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:f=[]}){let _=new Set(o.map(h=>h.permit.token));c(f.filter(h=>h.permit&&_.has(h.permit.token)&&h.ended).map(h=>[h.permit.token,{how:I(h.ended,"PERMIT_END_"),after:Date.now()-r}]))},missed:()=>$().catch(()=>{})}),T(()=>{o.length&&l.length===0&&n?.()},[l.length]),o.length===0)return a`<p class="lead">No holder had to stop.</p>`;let m=l.filter(f=>Date.now()-r>A(f.free_within)),p=o.length-l.length;return a`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${D(o.length,"holder has","holders have")} stopped.`:`${b(p)} of ${D(o.length,"holder has","holders have")} stopped.`}
      ${m.length>0&&a` <strong>${D(m.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${ke} share=${p/o.length} tone=${m.length?"stop":"run"} label=${`${p} of ${o.length} stopped`} />
    <${W}
      caption="Holders that must stop"
      rows=${[...m,...l.filter(f=>!m.includes(f)),...o.filter(f=>s[f.permit.token])].slice(0,600)}
      rowKey=${f=>f.permit.token}
      columns=${[["Semaphore",f=>a`<a href=${`/s/${encodeURIComponent(f.permit.semaphore)}`}>${f.permit.semaphore}</a>`,"name"],["Holder",f=>L(f.permit.identity),"name"],["Token",f=>f.permit.token,"num"],["Now",f=>{let _=s[f.permit.token];if(_)return a`<span class="tone-run">${_.how} after ${Q(_.after)}</span>`;let h=r+A(f.free_within)-Date.now();return h>0?a`<span class="tone-wait">stops within <span class="num">${at(h)}</span></span>`:a`<span class="tone-deny">did not stop in time</span>`}]]}
    />
  </section>`}function ze({lasts:e,until:t}){return e?.trim()?{lasts:Oe(e)}:t?{until:new Date(t).toISOString()}:{}}var Ne=e=>e?.trim()?{drain:Oe(e)}:{};function Ve(e){try{return e(),""}catch(t){return t.message}}function ot({value:e,set:t,without:n="It stays until somebody ends it."}){return a`<${P}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${o=>t({...e,lasts:o,until:""})}
      error=${Ve(()=>Oe(e.lasts??""))}
      help=${`As 30m or 2h. ${n}`}
    />
    <${P} label="Or until" type="datetime-local" value=${e.until??""} onInput=${o=>t({...e,until:o,lasts:""})} />`}function Je({value:e,set:t}){return a`<${P}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${Ve(()=>Oe(e.drain??""))}
    help="How long holders that must stop may continue. Empty: their next refresh is refused."
  />`}var ct=100,mr=(e,t)=>{let n=[];for(let o=Math.floor(e/ct);o<=Math.floor(Math.max(e,t-1)/ct);o++)n.push(o);return n};function fr(e){let t=JSON.stringify(e),n=z(je),[,o]=g(0),r=()=>o(m=>m+1),s=me(()=>({pages:new Map,asked:new Map,total:void 0,window:[0,1],round:0}),[t]),i=V(0),l=V(s);l.current=s;let u=(m,p)=>{if(!p&&(s.pages.has(m)||s.asked.has(m)))return;s.asked.get(m)?.abort();let f=new AbortController;s.asked.set(m,f);let _=performance.now();S("/v1/definitions",{...e,page_size:ct,skip:m*ct},f.signal).then(h=>{l.current===s&&(s.asked.delete(m),s.error=void 0,i.current=performance.now()-_,s.pages.set(m,h.records??[]),s.round++,s.total=h.total??(h.records??[]).length,r())},h=>{f.signal.aborted||l.current!==s||(s.asked.delete(m),s.error=h,r())})},d=(m,p)=>{s.window=[m,p];let f=mr(m,p);for(let[_,h]of s.asked)f.includes(_)||(h.abort(),s.asked.delete(_));for(let _ of f)u(_)},c=()=>{let m=mr(...s.window);for(let p of s.pages.keys())m.includes(p)||s.pages.delete(p);for(let p of m)u(p,!0)},$=V(c);return $.current=c,T(()=>(u(0),()=>s.asked.forEach(m=>m.abort())),[t]),T(()=>{n&&$.current()},[n]),T(()=>{let m=setInterval(()=>document.hidden||$.current(),_t(i.current));return()=>clearInterval(m)},[t,s.round]),{at:m=>s.pages.get(Math.floor(m/ct))?.[m%ct],total:s.total,error:s.error,want:d,refresh:c,update(m){let p=new Map(m.map(f=>[f.definition.name,f]));for(let f of s.pages.values())f.forEach((_,h)=>{let w=p.get(_.definition.name);w&&(f[h]=w)});r()}}}var $r=8,Yt=4;function hr({total:e,height:t,row:n,range:o,open:r,label:s,head:i,columns:l}){let u=V(null),[d,c]=g([0,30]),[$,m]=g(0),p=V(!1);ft(()=>{let k=0,Y=()=>{k=0;let ce=u.current?.getBoundingClientRect();if(!ce)return;let G=Math.max(0,Math.floor(-ce.top/t/Yt)*Yt-$r),J=Math.min(e,Math.ceil((innerHeight-ce.top)/t/Yt)*Yt+$r);c(re=>re[0]===G&&re[1]===J?re:[G,Math.max(G,J)])},se=()=>k||=requestAnimationFrame(Y);Y(),addEventListener("scroll",se,{passive:!0}),addEventListener("resize",se);let oe=new ResizeObserver(se);return oe.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",se),removeEventListener("resize",se),oe.disconnect()}},[e,t]),T(()=>{o?.(d[0],d[1])},[d[0],d[1],e]),ft(()=>{if(!p.current)return;let k=u.current?.querySelector(`[data-row="${$}"]`);k&&(p.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let f=Math.min($,Math.max(0,e-1)),_=k=>{if(e===0)return;p.current=!0,m(Math.max(0,Math.min(e-1,k)));let Y=u.current.getBoundingClientRect().top+scrollY+k*t;(Y<scrollY||Y>scrollY+innerHeight)&&scrollTo(0,Math.max(0,Y-innerHeight/2))},h=Math.max(1,Math.floor(innerHeight/t)-4),w={ArrowDown:()=>_(f+1),ArrowUp:()=>_(f-1),PageDown:()=>_(f+h),PageUp:()=>_(f-h),Home:()=>_(0),End:()=>_(e-1),Enter:()=>r?.(f)},y=k=>{!w[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),w[k.key]())},O=k=>{let Y=k.target.closest("[data-row]");Y&&m(Number(Y.dataset.row))};T(()=>{let k=()=>_(f);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let N=[];for(let k=d[0];k<Math.min(d[1],e);k++)N.push(k);return e>0&&(f<d[0]||f>=d[1])&&N.push(f),a`<div class="grid" role="grid" aria-label=${s} aria-rowcount=${e+1} aria-colcount=${l} onKeyDown=${y} onFocusIn=${O}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${u} style=${{height:`${e*t}px`}}>
      ${N.map(k=>a`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===f?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function Mn(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var An=e=>e.value.slice(17).toLowerCase();function Qs({counts:e,total:t}){let[n,o]=F(),r=n.getAll("state"),s=i=>o({state:r.includes(i)?r.filter(l=>l!==i):[...r,i]});return a`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${r.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":b(t)}</span><span class="stat-w">all</span>
    </button>
    ${Wt.map(i=>{let l=e?.get(i.value);return a`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${r.includes(An(i))}
        title=${i.help}
        onClick=${()=>s(An(i))}
      >
        <span class="stat-n num">${e?b(l):"–"}</span><span class="stat-w"><${Et} value=${i.value} text=${An(i)} /></span>
      </button>`})}
  </div>`}var Ys=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function Xs({labels:e}){let[t,n]=F(),o=t.get("labels")??"",[r,s]=Se(o,c=>n({labels:c}),400),[i,l]=g(""),u=e?.find(c=>c.key===i)?.values??[],d=c=>{c&&(n({labels:[o,c==="*"?i:`${i}=${Ys(c)}`].filter(Boolean).join(",")}),l(""))};return a`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${r} placeholder="team=data,tier!=test" onInput=${c=>s(c.target.value)} autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&a`<${Re} label="Add a label" value=${i} onChange=${l} options=${[["","Label …"],...e.map(c=>[c.key,c.key])]} />
      ${i&&a`<${Re} label="Value" value="" onChange=${d} options=${[["","Value …"],["*","any value"],...u.map(c=>[c.value,`${c.value} (${b(c.count)})`])]} />`}`}`}function Zs({summary:e,shown:t}){let[n,o]=F(),[r,s]=Se(n.get("q")??"",p=>o({q:p})),[i,l]=Se(n.get("group")??"",p=>o({group:p}),400),u=["q","group","labels","state"].filter(p=>n.get(p)),d=x(p=>xe("/v1/known",{},"callers",p),["known"]),c=[...new Set((d.data?.items??[]).map(p=>p.group))].sort(),$=Ht("(min-width: 60rem)");return a`<form class="filters" role="search" onSubmit=${p=>p.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${r} placeholder="Words of name, description or label" onInput=${p=>s(p.target.value)} onKeyDown=${p=>{p.key!=="ArrowDown"&&p.key!=="Enter"||(p.preventDefault(),dispatchEvent(new Event("enter-list")))}} autocomplete="off" spellcheck=${!1} />
    </div>
    <details class="more-filters" open=${$||u.some(p=>p==="group"||p==="labels")}>
      <summary>Filters</summary>
      <div class="filters-in">
        <div class="field">
          <label for="group">Lets in group</label>
          <input id="group" value=${i} list="groups" placeholder="any" onInput=${p=>l(p.target.value)} autocomplete="off" spellcheck=${!1} />
          <datalist id="groups">${c.map(p=>a`<option value=${p} />`)}</datalist>
        </div>
        <${Xs} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${u.length>0&&a`<button type="button" onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause</a>
    </p>
  </form>`}var In=["State","Semaphore","In use","Holder","Time left","Queue","Lets in group"],Nn=class extends rt{shouldComponentUpdate(t){let{record:n,permits:o,live:r}=this.props;return t.record!==n||t.permits!==o||t.live?.waiters!==r?.waiters}render({record:t,permits:n,live:o}){return a`<${ea} record=${t} permits=${n} live=${o} />`}};function ea({record:e,permits:t,live:n}){if(!e)return a`<span class="row-loading" role="gridcell" aria-colspan=${In.length}>Reading …</span>`;let o=e.definition,r=t?.[0],s=(e.holders??0)-1,i=Bt(e)[0],l=`/s/${encodeURIComponent(o.name)}`,u=Number(e.used??0),d=o.permits??0,c=n?.waiters??e.waiters??0;return a`
    <span class="c-state" role="gridcell"><${Yo} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${l} tabindex="-1">${o.name}</a>
      <span class="sub">${i??o.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${ke} share=${d?u/d:u?1:0} tone=${u>d?"deny":"accent"} label="${u} of ${d} permits in use" />
      <span>${b(u)}<span class="faint"> / ${b(d)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${r?a`<span class="clip">${L(r.identity)}</span><span class="sub">for <${le} at=${r.granted_at} />${s>0&&` and ${b(s)} more`}</span>`:s>=0?a`<span class="sub">${D(s+1,"holder","holders")}</span>`:a`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${r?a`<${Kt} at=${r.deadline} of=${A(r.duration)} />`:a`<span class="faint">–</span>`}</span>
    <span class="c-queue num" role="gridcell">${c?a`<span class="tag tone-wait">${b(c)}</span>`:a`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${o.group_pattern}</code></span>`}var ta=6e3;function gr(){ne("Overview");let[e]=F(),t=Mn(e),n=fr(t),o=Ht("(max-width: 47.99rem)"),r=Ht("(max-width: 63.99rem)"),s=o?104:r?76:52,{search:i,group:l,labels:u}=t,[d,c]=g(1e4),$=x(async E=>{let B=performance.now(),te=await S("/v1/definitions:summarize",{search:i,group:l,labels:u},E);return c(_t(performance.now()-B)),te},["summary",i,l,u],{every:d,keep:!0}),m=me(()=>$.data&&new Map(($.data.states??[]).map(E=>[E.state,E.count])),[$.data]),[p,f]=g(new Map),[_,h]=g(new Map),[w,y]=g([]),O=V(new Set),[N,k]=g(5e3),Y=V([0,0]),se=Le(()=>{let[E,B]=Y.current,te=[],Ee=0;for(let be=E;be<B&&Ee<ta;be++){let ue=n.at(be)?.definition.name;ue&&(te.push(ue),Ee+=ue.length+8)}y(be=>be.join(`
`)===te.join(`
`)?be:te)},150),oe=(E,B)=>{Y.current=[E,B],n.want(E,B),se()};T(se);let ce=async(E,B)=>{let te=Date.now(),{items:Ee}=await xe("/v1/holders",{names:E},"permits",B),be=new Map(E.map(ue=>[ue,[]]));for(let ue of Ee)be.get(ue.semaphore)?.push({...ue,deadline:ue.expires_in?te+A(ue.expires_in):0});f(ue=>new Map([...ue,...be]))},G=Le(async()=>{let E=[...O.current];if(O.current.clear(),E.length===0)return;let B=performance.now(),[te]=await Promise.all([S("/v1/definitions",{names:E,page_size:1e3}),ce(E)]).catch(()=>[]);if(!te)return;n.update(te.records??[]);let Ee=performance.now()-B;k(Ee<20?5e3:_t(Ee))},40);T(()=>{if(w.length===0)return;let E=new AbortController;return ce(w,E.signal).catch(()=>{}),()=>E.abort()},[w]);let J=()=>{w.forEach(E=>O.current.add(E)),G()};T(()=>{let E=setInterval(()=>document.hidden||J(),N);return()=>clearInterval(E)},[w,N]),Ae(w.length?"/v1/watch":null,{names:w,permits:!0,live_every:"1s"},{open:E=>E&&J(),missed:J,message({events:E=[]}){for(let B of E)B.semaphore&&O.current.add(B.semaphore);G()},live(E){let B=(E.live??E).semaphores??[],te=Date.now();h(new Map(B.map(Ee=>[Ee.semaphore,Ee]))),f(Ee=>{let be=new Map(Ee);for(let ue of B){let Un=new Map((ue.deadlines??[]).map(Ge=>[Ge.token,te+A(Ge.expires_in)])),Hn=be.get(ue.semaphore);Hn&&be.set(ue.semaphore,Hn.map(Ge=>Un.has(Ge.token)?{...Ge,deadline:Un.get(Ge.token)}:Ge))}return be})}});let re=E=>{let B=n.at(E);B&&$e(`/s/${encodeURIComponent(B.definition.name)}`)},v=n.total,ae=v===void 0?"…":D(v,"semaphore","semaphores"),j=me(()=>a`<${X} aside=${a`<${na} />`}>Overview<//>
      <${Ke} />
      <${Qs} counts=${m} total=${$.data&&($.data.total??0)} />
      <${Zs} summary=${$.data} shown=${ae} />`,[m,$.data,ae]);return a`${j}
    ${n.error&&!n.error.offline&&a`<${U} error=${n.error} retry=${n.refresh} />`}
    ${v===void 0?!n.error&&a`<${ge} what="Reading the semaphores" />`:v===0?a`<${oa} filtered=${[...e].length>0} />`:a`<${hr}
            label="Semaphores"
            total=${v}
            height=${s}
            columns=${In.length}
            range=${oe}
            open=${re}
            head=${In.map(E=>a`<span role="columnheader">${E}</span>`)}
            row=${E=>{let B=n.at(E),te=B?.definition.name;return a`<${Nn} record=${B} permits=${p.get(te)} live=${_.get(te)} />`}}
          />`}`}function na(){let[e,t]=g(!1),[n,o]=g("");return a`<${q} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&a`<${de} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${s=>{s.preventDefault(),n.trim()&&$e(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${P} label="Name" value=${n} onInput=${o} maxlength="256" required help="As callers ask for it. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button><button class="primary">Write its rule …</button></p>
      </form>
    <//>`}`}function oa({filtered:e}){return e?a`<${R} title="No semaphore matches.">Remove a filter to see more.<//>`:a`<${R} title="There are no semaphores yet.">Create the first one with <code>gkctl apply -f FILE</code>, or give gatekeeperd a file by <code>--definitions</code>.<//>`}var ra=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],_r=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function br(){let[e,t]=F(),[n,o]=g(e.getAll("names").join(`
`)),[r,s]=g(e.get("labels")??""),[i,l]=g(e.get("all")==="1"),[u,d]=g(null),c=Mn(e),$=e.get("from_filter")==="1"&&(c.search||c.group||c.states.length>0);T(()=>{$&&xe("/v1/definitions",c,"records",void 0,1e3).then(({items:p,more:f})=>{o(p.map(_=>_.definition.name).join(`
`)),s(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),f&&d(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},d)},[]);let m=i?{all:!0}:{..._r(n).length&&{names:_r(n)},...r.trim()&&{labels:r.trim()}};return{names:n,setNames:o,labels:r,setLabels:s,everything:i,setEverything:l,selector:m,error:u,given:i||n.trim()!==""||r.trim()!==""}}function yr({of:e,optional:t}){let n=x(e.given?s=>S("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:4},s):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],r=n.data?.total??0;return a`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${P} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything} placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${P} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything} placeholder="team=data,tier!=test" help="Names and labels must both match." />
      <${pe} label="Every semaphore" checked=${e.everything} onChange=${e.setEverything} />
    </div>
    ${e.error&&a`<${U} error=${e.error} />`}
    ${n.error&&!n.error.offline&&a`<${U} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${D(r,"semaphore","semaphores")} chosen${o.length?`: ${Ue(o.map(s=>s.definition.name),4)}${r>4?" …":""}`:""}`:"Reading …":t??"Choose some, or every one."}
    </p>
  </fieldset>`}function Ln({of:e,onAgain:t}){return a`<section class="panel stack" aria-label="What was done">
    <h2>${e.text}</h2>
    <${dr} key=${e.change} change=${e.change} effects=${e.effects} />
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Change ${e.change}</a>
      <${q} role=${e.role} onClick=${()=>nt(e.change)}>Undo …<//>
      <button type="button" onClick=${t}>Another one</button>
    </p>
  </section>`}function Pn(){let[e,t]=g(null);return[e,(o,r)=>(s,i)=>{let l=s.change??s.revision??s.cordon?.revision;l&&l!=="0"&&t({text:o,role:r,change:l,effects:s.effects?.length?s.effects:i.effects??[]})},()=>t(null)]}function wr({id:e}){let t=x(o=>xe("/v1/known",{},"callers",o,5e3),["known"]),n=[...new Set((t.data?.items??[]).map(o=>o.group))].sort();return a`<datalist id=${e}>${n.map(o=>a`<option value=${o} />`)}</datalist>`}function sa({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return a`
    <p class="lead">${e.moves?.length?`${D(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&a`<span class="faint"> ${b(n)} need no move.</span>`}</p>
    ${e.mistake&&a`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&a`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p><ul>${e.doubts.map(o=>a`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&a`<div class="warnings"><p>${D(t.length,"semaphore has","semaphores have")} to be moved by hand:</p>
      <ul>${t.slice(0,20).map(o=>a`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function aa(){let e=br(),[t]=F(),[n,o]=g({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[r,s]=g(!1),[i,l,u]=Pn(),d=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...Ne(n.drain),...he()}),c=!n.from.trim()||!n.to.trim()?"Say from which group to which.":Ve(()=>Ne(n.drain));return i?a`<${Ln} of=${i} onAgain=${u} />`:a`<form class="stack" onSubmit=${$=>($.preventDefault(),c||s(!0))}>
    <fieldset class="panel">
      <legend>From where to where</legend>
      <div class="form">
        <${P} label="From group" value=${n.from} onInput=${$=>o({...n,from:$})} list="move-groups" required />
        <${P} label="To group" value=${n.to} onInput=${$=>o({...n,to:$})} list="move-groups" required />
        <${Je} value=${n} set=${o} />
        <${wr} id="move-groups" />
      </div>
    </fieldset>
    <${yr} of=${e} optional="Every semaphore that admits the old group, and not the new one. Choose fewer by names or labels." />
    <p class="row end"><${q} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>Preview the move …<//></p>
    ${r&&a`<${ve}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${$=>`Move ${D($.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async $=>C("/v1/move",{...d(),dry_run:!0},$)}
      extra=${$=>a`<${sa} of=${$} />`}
      nothing=${$=>$.moves?.length?"":$.mistake||"There is nothing to move."}
      run=${async($,m)=>C("/v1/move",{...d(),expected:m.digest,...$})}
      done=${$=>`${D($.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${l(`Moved from ${n.from} to ${n.to}`,"ROLE_OPERATOR")}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function vr({resume:e}){let t=br(),[n,o]=g({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[r,s]=g(!1),[i,l,u]=Pn(),d=()=>e?{selector:t.selector}:{selector:t.selector,...ze(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...Ne(n.drain)}},c=t.given?Ve(()=>(ze(n),Ne(n.drain))):"Choose some semaphores first.";if(i)return a`<${Ln} of=${i} onAgain=${u} />`;let $=e?"resume":"pause";return a`<form class="stack" onSubmit=${m=>(m.preventDefault(),c||s(!0))}>
    <${yr} of=${t} />
    ${!e&&a`<fieldset class="panel">
      <legend>How long, and what becomes of running work</legend>
      <div class="form">
        <${ot} value=${n} set=${o} without="Empty: until it is resumed." />
        <${pe} label="Stop holders too" checked=${n.stop} onChange=${m=>o({...n,stop:m})} help="Otherwise running work continues to its end." />
        ${n.stop&&a`<${Je} value=${n} set=${o} />`}
        <${pe} label="Leave paused ones as they are" checked=${n.keep} onChange=${m=>o({...n,keep:m})} help="Otherwise this pause replaces theirs, also when it ends." />
      </div>
    </fieldset>`}
    <p class="row end"><${q} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${r&&a`<${ve}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async m=>C("/v1/preview",{[$]:d()},m)}
      run=${async(m,p)=>C(`/v1/${$}`,{...d(),expected:p.digest,...m})}
      done=${m=>`${D(m.names?.length??0,"semaphore","semaphores")} ${$}d.`}
      onDone=${(m,p)=>l(`${D(m.names?.length??0,"semaphore","semaphores")} ${$}d`,"ROLE_OPERATOR")(m,p)}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function ia(){let[e]=F(),[t,n]=g({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,r]=g(!1),[s,i,l]=Pn(),u=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...ze(t),...Ne(t.drain)}),d=!t.group.trim()&&!t.acquirer.trim()?"Say whom to shut out.":Ve(()=>u());return s?a`<${Ln} of=${s} onAgain=${l} />`:a`<form class="stack" onSubmit=${c=>(c.preventDefault(),d||r(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Whom, and for how long</legend>
      <div class="form">
        <${P} label="Group pattern" value=${t.group} onInput=${c=>n({...t,group:c})} list="cordon-groups" help="A caller is caught when either pattern matches." />
        <${P} label="Acquirer pattern" value=${t.acquirer} onInput=${c=>n({...t,acquirer:c})} placeholder="host-3" />
        <${ot} value=${t} set=${n} without="Empty: until it is ended." />
        <${Je} value=${t} set=${n} />
        <${wr} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${q} role="ROLE_OPERATOR" type="submit" kind="primary" why=${d}>Preview the cordon …<//></p>
    ${o&&a`<${ve}
      title="Cordon"
      verb="Cordon"
      role="ROLE_OPERATOR"
      preview=${async c=>C("/v1/preview",{cordon:u()},c)}
      run=${async c=>C("/v1/cordon",{...u(),...c})}
      done=${c=>`Cordon ${c.cordon?.id} is in force.`}
      onDone=${(c,$)=>i(`Cordon ${c.cordon?.id} is in force`,"ROLE_OPERATOR")(c,$)}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function kr(){ne("Move and pause");let[e]=F(),t=e.get("do")??"move";return a`<${X}>Move and pause<//>
    <${Ke} />
    <${lt} of=${ra} query="do" label="What to do" />
    ${t==="pause"?a`<${vr} key="pause" />`:t==="resume"?a`<${vr} key="resume" resume />`:t==="cordon"?a`<${ia} />`:t==="move"?a`<${aa} />`:a`<${R} title="There is no such form." />`}`}var Er=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:Ue(e.names??[]),xr=e=>e.names?.length===1?e.names[0]:"";function Tr({selector:e,onClose:t,onDone:n}){let[o,r]=g({lasts:"",until:"",stop:!1,drain:""}),s=()=>({selector:e,...ze(o),...o.stop?{stop:!0,...Ne(o.drain)}:{}});return a`<${ve}
    title=${`Pause ${Er(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${xr(e)}
    deps=${o}
    preview=${async i=>C("/v1/preview",{pause:s()},i)}
    run=${async(i,l)=>C("/v1/pause",{...s(),expected:l.digest,...i})}
    done=${i=>`${D(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. The queue keeps its places.</p>
    <div class="form">
      <${ot} value=${o} set=${r} without="Empty: until it is resumed." />
      <${pe} label="Stop holders too" checked=${o.stop} onChange=${i=>r({...o,stop:i})} help="Otherwise running work continues to its end." />
      ${o.stop&&a`<${Je} value=${o} set=${r} />`}
    </div>
  <//>`}function Sr({selector:e,onClose:t,onDone:n}){return a`<${ve}
    title=${`Resume ${Er(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${xr(e)}
    preview=${async o=>C("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,r)=>C("/v1/resume",{selector:e,expected:r.digest,...o})}
    done=${o=>o.names?.length?`${D(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function Cr({name:e}){let[t,n]=F(),o={group:t.get("group")??"",acquirer:t.get("acquirer")??"",weight:t.get("weight")??"",worker:t.get("worker")??""},[r,s]=g(o),l=x(m=>S("/v1/known",{page_size:1e3},m),["known"]).data?.callers??[],u={identity:{group:o.group,acquirer:o.acquirer},...o.weight&&{weight:Number(o.weight)},...o.worker&&{worker:!0}},d=x(o.acquirer?m=>C(ie`/v1/semaphores/${e}:explain`,u,m):null,["explain",e,o],{keep:!0,every:5e3}),c=m=>{m.preventDefault(),n(r),d.refresh()},$=m=>p=>s({...r,[m]:p});return a`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${c}>
      <${P} label="Group" value=${r.group} onInput=${$("group")} list="known-groups" placeholder="default" help="Where the caller runs: a zone, a site." />
      <${P} label="Acquirer" value=${r.acquirer} onInput=${$("acquirer")} list="known-acquirers" required help="Who asks, normally a host." />
      <${P} label="Weight" type="number" min="1" value=${r.weight} onInput=${$("weight")} placeholder="1" />
      <${pe} label="It is a worker" checked=${r.worker==="1"} onChange=${m=>$("worker")(m?"1":"")} help="It asks for a task." />
      <datalist id="known-groups">${[...new Set(l.map(m=>m.group))].map(m=>a`<option value=${m} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(l.map(m=>m.acquirer))].map(m=>a`<option value=${m} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${d.error&&!d.error.offline&&a`<${U} error=${d.error} />`}
    ${o.acquirer&&!d.data&&!d.error&&a`<${ge} what="Asking" />`}
    ${d.data&&a`<${la} of=${d.data} />`}
  </section>`}function la({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return a`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}"><strong>${t?"It would get a permit.":`Denied: ${I(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&a`<p class="note">Nothing is granted for another ${Math.ceil(A(e.recovering)/1e3)} s: a recovery of the cluster is being waited out.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>a`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}"><span aria-hidden="true">${n.passed?"✓":"✗"}</span><span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&a`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>a`${o?", ":""}${L(n.identity)} for <${le} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${b(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&a`<p>${D(e.waiter_count,"caller waits","callers wait")} in the queue.</p>`}
    ${e.why_tasks_wait&&a`<p>${e.why_tasks_wait}</p>`}
  </div>`}var ca={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function ua(e,t){let n="",o,r=[];do o=await S("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),r.push(...o.firings??[]),n=o.next_page_token??"";while(n&&r.length<2e4);return{...o,firings:r.reverse()}}function Dr({name:e,events:t}){let n=x(u=>ua(e,u),["firings",e,t],{keep:!0}),[o,r]=g(null),[s,i]=g(100),l=o&&{semaphore:e,firings:[o.firing],...he()};return a`<section class="panel">
    <h2>Firings</h2>
    <${H} of=${n} what="Reading the firings">
      ${u=>a`
        <p class="faint">${b(u.count)} remembered, at most ${b(u.limit)}.${u.forgotten_up_to&&` Those due until ${M(u.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${W}
          caption="Firings"
          rows=${u.firings.slice(0,s)}
          rowKey=${d=>We(d.firing)}
          empty=${a`<${R} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing does, is remembered here.<//>`}
          columns=${[["Firing",d=>We(d.firing),"name"],["State",d=>a`<span class="tag tone-${ca[I(d.state,"FIRING_STATE_")]??"idle"}">${I(d.state,"FIRING_STATE_")}</span>`],["Who",d=>d.winner?L(d.winner):"–","name"],["Claimed at",d=>M(d.claimed_at)||"–","num"],["Attempts",d=>b(d.attempts),"num"],["Failure",d=>d.failure||"–"],["",d=>a`<${q} role="ROLE_OPERATOR" semaphore=${e} onClick=${()=>r(d)}>Forget …<//>`,"end"]]}
        />
        ${u.firings.length>s&&a`<button type="button" onClick=${()=>i(s*5)}>Show more</button>`}`}
    <//>
    ${o&&a`<${ve}
      title=${`Forget ${We(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${u=>C("/v1/firings:forget",{...l,dry_run:!0},u)}
      run=${(u,d)=>C("/v1/firings:forget",{...l,plan:d.plan,...u})}
      done=${()=>`${We(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>r(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function Rr({name:e,events:t,onChange:n}){let[o,r]=F(),s=o.get("permits")==="1",[i,l]=g(50),u=x(d=>S("/v1/history",{names:[e],permits:s,page_size:i},d),["history",e,s,i,t],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>History</h2>
      <${pe} label="Also how permits ended" checked=${s} onChange=${d=>r({permits:d?"1":""})} />
    </div>
    <${H} of=${u} what="Reading the journal">
      ${d=>a`
        ${d.entries?.length?a`<${wt} entries=${d.entries} semaphore=${e} onChange=${n} />`:a`<${R} title="The journal has nothing of it." />`}
        ${d.next_page_token&&i<1e3&&a`<p class="row"><button type="button" onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var Fn=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],jn=4,Or=12,pa={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function Ar({name:e,permits:t,events:n}){let[o,r]=F(),s=Fn.find(([u])=>u===o.get("span"))??Fn[0];Me();let i=Date.now()-s[1],l=x(u=>S("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-s[1]).toISOString(),page_size:1e3},u),["timeline",e,s[0],n],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${Fn.map(([u])=>a`<button type="button" key=${u} aria-pressed=${u===s[0]} onClick=${()=>r({span:u==="1h"?"":u})}>${u}</button>`)}
      </div>
    </div>
    <${H} of=${l} what="Reading the journal">
      ${u=>a`<${da} entries=${u.entries??[]} permits=${t} from=${i} to=${Date.now()} more=${u.next_page_token} />`}
    <//>
  </section>`}function da({entries:e,permits:t,from:n,to:o,more:r}){let s=[...t.map(c=>({who:L(c.identity),from:Date.parse(c.granted_at),to:o,how:"holds it now",tone:c.stop?"stop":"accent",token:c.token})),...e.filter(c=>c.permit&&c.kind!=="EVENT_KIND_GRANTED"&&c.permit.granted_at).map(c=>{let $=I(c.permit.ended,"PERMIT_END_")||I(c.kind,"EVENT_KIND_");return{who:L(c.permit.identity),from:Date.parse(c.permit.granted_at),to:Date.parse(c.permit.ended_at??c.at),how:$,tone:pa[$]??"idle",token:c.permit.token}})],i=new Set,l=new Map;for(let c of s)i.has(c.token)||c.to<n||(i.add(c.token),l.set(c.who,[...l.get(c.who)??[],c]));if(l.size===0)return a`<${R} title="Nobody held it in this time." />`;let u=c=>1e3*(Math.max(c,n)-n)/(o-n),d=e.filter(c=>!c.permit&&Date.parse(c.at)>=n);return a`<div class="timeline">
    ${[...l].slice(0,Or).map(([c,$])=>{let m=$[0],p=`${c}: ${D($.length,"permit","permits")}, the last from ${M(m.from)}, ${m.how}`;return a`<div class="lane" key=${c}>
        <span class="lane-name">${c}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${p}>
          <rect class="track" width="1000" height="18" />
          ${$.map(f=>a`<rect key=${f.token} class="fill-${f.tone}" x=${u(f.from)} y="2" height="14" width=${Math.max(1.5,u(f.to)-u(f.from))}>
            <title>${`${f.who}: ${M(f.from)}, ${f.how} after ${Q(f.to-f.from)}, token ${f.token}`}</title>
          </rect>`)}
          ${d.map(f=>a`<line key=${f.revision} class="mark" x1=${u(Date.parse(f.at))} x2=${u(Date.parse(f.at))} y1="0" y2="18"><title>${`${I(f.kind,"EVENT_KIND_")} by ${f.author??"–"} at ${M(f.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:jn+1},(c,$)=>a`<span key=${$}>${$===jn?"now":it(n+(o-n)*$/jn).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>Or||r)&&a`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history has all of it.</a></p>`}
  </div>`}function ma({permit:e,onClose:t,onDone:n}){let[o,r]=g({reason:"",drain:"",unsafe:!1}),[s,i]=g(null),[l,u]=g(!1);return a`<${de} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async c=>{if(c.preventDefault(),!l){u(!0);try{let $={reason:o.reason,...he()};o.drain.trim()&&($.drain=Oe(o.drain)),o.unsafe&&($.unsafe_now=!0),await C(ie`/v1/permits/${e.token}:revoke`,$),we(`The permit of ${L(e.identity)} is revoked.`),n(),t()}catch($){i($),u(!1)}}}}>
      <p>${L(e.identity)} must stop. Its refreshes are refused from now on, and its slot is free when it releases, or at its deadline.</p>
      <${P} label="Reason" value=${o.reason} onInput=${c=>r({...o,reason:c})} maxlength="1024" />
      <${P} label="Drain" placeholder="2m" value=${o.drain} onInput=${c=>r({...o,drain:c})} error=${Ve(()=>Oe(o.drain))} help="How long it may continue. Empty: not at all." />
      <${pe} label="Free the slot at once" checked=${o.unsafe} onChange=${c=>r({...o,unsafe:c})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${U} error=${s} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function fa({permit:e,onClose:t,onDone:n}){let[o,r]=g(""),[s,i]=g(null);return a`<${de} title="Clear a slot" onClose=${t}>
    <form onSubmit=${u=>{u.preventDefault(),C(ie`/v1/permits/${e.token}:clear`,{reason:o,...he()}).then(()=>{we("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${L(e.identity)} expired, and its slot is held. Clear it when you know that its job does not run any more.</p>
      <${P} label="Reason" value=${o} onInput=${r} maxlength="1024" />
      <${U} error=${s} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var $a=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function ha({permits:e,onChange:t}){let[n,o]=g(null),r=()=>o(null);return a`<section class="panel">
    <h2>Holders</h2>
    <${W}
      caption="Holders"
      rows=${e}
      rowKey=${s=>s.token}
      empty=${a`<${R} title="Nobody holds a permit." />`}
      columns=${[["Holder",s=>a`${L(s.identity)}${s.identity?.holder_id&&a`<div class="sub">${s.identity.holder_id}</div>`}`,"name"],["State",s=>a`<span class="tone-${Fo(s)}">${Po(s)}</span>`],["Since",s=>a`<${le} at=${s.granted_at} />`,"num"],["Time left",s=>a`<${Kt} at=${s.deadline} of=${A(s.duration)} />`,"num"],["Weight",s=>b(s.weight),"num"],["Token",s=>s.token,"num"],["For",s=>[We(s.firing),$a(s.metadata)].filter(Boolean).join("; ")||"–"],["",s=>s.state==="PERMIT_STATE_HELD"?a`<${q} role="ROLE_OPERATOR" semaphore=${s.semaphore} onClick=${()=>o({clear:s})}>Clear …<//>`:s.state==="PERMIT_STATE_COOLING"?null:a`<${q} role="ROLE_OPERATOR" semaphore=${s.semaphore} group=${s.identity?.group} acquirer=${s.identity?.acquirer} onClick=${()=>o({revoke:s})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&a`<${ma} permit=${n.revoke} onClose=${r} onDone=${t} />`}
    ${n?.clear&&a`<${fa} permit=${n.clear} onClose=${r} onDone=${t} />`}
  </section>`}function ga({data:e}){let t=n=>new Date(e.at-A(n.waiting)).toISOString();return a`<section class="panel">
    <h2>Queue</h2>
    <${W}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${a`<${R} title="Nobody waits." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>L(n.identity),"name"],["Weight",n=>b(n.weight),"num"],["Waiting for",n=>a`<${le} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More wait than are shown here."}
    />
    ${(e.tasks??[]).map(n=>a`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${b(n.tasks)} tasks wait for a worker.</p>`)}
  </section>`}var _a=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function va({rows:e,caption:t}){return a`<${W}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${L(n.identity)}`}
    columns=${[["Caller",n=>L(n.identity),"name"],["Why",n=>a`${n.message}<div class="sub">${I(n.reason,"REASON_")}${n.let_in&&`; ${L(n.let_in)} was let in, so it may be a standby`}${n.cured&&"; would not be denied now"}</div>`],["Times",n=>b(n.count),"num"],["Last",n=>a`<span title=${M(n.last)}><${le} at=${n.last} /> ago</span>`,"num"],["",n=>a`<a href=${n.semaphore?_a(n):void 0}>Explain</a>`,"end"]]}
  />`}function ba({name:e,events:t}){let n=x(o=>S("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return a`<section class="panel">
    <h2>Denied</h2>
    <${H} of=${n} what="Reading who was denied">
      ${o=>a`
        ${o.callers?.length?a`<${va} rows=${o.callers} caption="Callers that were denied" />`:a`<${R} title="Nobody is denied.">Callers show here when waiting does not help them${o.since?`; remembered since ${M(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&a`<h3>They may mean this semaphore</h3>
          <ul>${o.misspelled.map(r=>a`<li>${L(r.identity)} asks for <code>${r.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function Ir({name:e,of:t}){return a`<div class="stack">
    <${H} of=${t.holders} what="Reading who holds it">${n=>a`<${ha} permits=${n} onChange=${t.read} />`}<//>
    <${Ar} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${H} of=${t.waiters} what="Reading the queue">${n=>a`<${ga} data=${n} />`}<//>
      <${ba} name=${e} events=${t.events} />
    </div>
  </div>`}function Xt(e={}){let t={};for(let n of _e){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(r=>o[r]===""?r:`${r}=${o[r]}`).join(`
`);break;case"duration":t[n.name]=tt(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=He(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function Nr(e,t={}){let n={...t},o={};for(let r of _e){let s=e[r.name]??"";try{let i=ya(r,s);i===void 0?delete n[r.name]:n[r.name]=i}catch(i){o[r.name]=i.message}}return{definition:n,errors:o}}function ya(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(r=>r.trim()).filter(Boolean)){let r=o.indexOf("="),s=(r<0?o:o.slice(0,r)).trim();if(!s)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,s))throw new Error(`The key ${s} stands here twice.`);Object.defineProperty(n,s,{value:r<0?"":o.slice(r+1).trim(),enumerable:!0})}return n}case"duration":return Oe(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function Mr(e,t,n){let o={},r=[],s=[];for(let i of _e){let[l,u,d]=[e[i.name],t[i.name],n[i.name]];o[i.name]=u===l?d:u,u!==l&&d!==l&&u!==d&&(r.push(i.name),o[i.name]=d),(u!==l||d!==l)&&s.push({field:i,base:l,mine:u,theirs:d})}return{merged:o,conflicts:r,rows:s}}function Lr({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:r,conflicts:s,rows:i}=e,[l,u]=g({}),d=s.filter(m=>!l[m]),c=()=>{let m={...e.merged};for(let p of i)l[p.field.name]&&(m[p.field.name]=p[l[p.field.name]]);n(m)},$=m=>{let p=m.field.name;if(!s.includes(p))return m.mine===m.theirs?a`<${Jt}>the same<//>`:m.mine!==m.base?a`<${Jt} tone="accent">yours<//>`:a`<${Jt} tone="wait">theirs<//>`;let f=(_,h)=>a`<label class="radio">
      <input type="radio" name=${`keep-${p}`} checked=${l[p]===_} onChange=${()=>u({...l,[p]:_})} /> ${h}
    </label>`;return a`<fieldset class="radios"><legend class="sr-only">Which ${m.field.label} to keep</legend>${f("mine","yours")}${f("theirs","theirs")}</fieldset>`};return a`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${r.updated_by||"Somebody"} saved version ${r.version} at ${M(r.updated_at)}${r.reason&&` (${r.reason})`}. You began
      with version ${t?.version??"–"}. Nothing of yours is saved yet, and nothing is lost.</p>
    <${W}
      caption="Fields that differ"
      rows=${i}
      rowKey=${m=>m.field.name}
      columns=${[["Field",m=>m.field.label],["When you began",m=>a`<code>${m.base||"(none)"}</code>`],["Yours",m=>m.mine===m.base?a`<span class="faint">unchanged</span>`:a`<ins>${m.mine||"(none)"}</ins>`],["Theirs",m=>m.theirs===m.base?a`<span class="faint">unchanged</span>`:a`<ins class="theirs">${m.theirs||"(none)"}</ins>`],["Keep",$]]}
    />
    <p class="row end">
      <span class="grow" role="status">${d.length?`Choose for ${d.length===1?"1 field":`${d.length} fields`} that you both changed.`:"Everything is decided."}</span>
      <button type="button" onClick=${o}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${d.length?"true":void 0} onClick=${()=>d.length||c()}>Review the result …</button>
    </p>
  </section>`}var qn=60;function Pr({name:e,group:t,acquirer:n}){let[o,r]=g({group:t,acquirer:n});T(()=>{let p=setTimeout(()=>r({group:t,acquirer:n}),250);return()=>clearTimeout(p)},[t,n]);let s=x(p=>xe("/v1/known",{},"callers",p,1e3),["known"]),i=x(o.group&&o.acquirer?async p=>{let f={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await C("/v1/preview",{edits:{edits:[{create:f}]}},p)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),l=s.data?.items??[],u=i.data?.eligible??i.data?.total_admitted??0,d=new Set((i.data?.admitted??[]).map(p=>`${p.acquirer} in ${p.group}`)),c=i.error&&!i.error.offline?i.error.fields?.[0]?.rule??i.error.message:"",$=d.size>=u,m=[...l].sort((p,f)=>d.has(`${f.acquirer} in ${f.group}`)-d.has(`${p.acquirer} in ${p.group}`));return a`<div class="pattern-test full" aria-live="polite">
    ${c?a`<p class="error">${c}</p>`:l.length===0?a`<p class="faint">Nobody was seen asking yet, so the patterns cannot be tried on anybody.</p>`:a`<p><strong class=${u?"tone-run":"tone-deny"}>These patterns let in ${u?b(u):"none"} of ${D(l.length,"known caller","known callers")}${s.data?.more?" and more":""}.</strong></p>
            <ul class="chips">${m.slice(0,qn).map(p=>{let f=`${p.acquirer} in ${p.group}`,_=d.has(f);return!_&&!$?null:a`<li key=${f} class=${_?"in":"out"}><span aria-hidden="true">${_?"✓":"✗"}</span><span class="sr-only">${_?"let in: ":"not let in: "}</span>${f}</li>`})}${l.length>qn&&a`<li class="out">and ${b(l.length-qn)} more</li>`}</ul>`}
  </div>`}var Fr={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function jr({name:e,record:t,onSaved:n}){let[o,r]=F();if(o.get("edit")==="1"||!t)return a`<${wa} name=${e} record=${t} onSaved=${n} onDone=${()=>r({edit:""})} />`;let i=t.definition;return a`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${q} role="ROLE_EDITOR" semaphore=${e} kind="primary" onClick=${()=>r({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Ie} of=${_e.map(l=>[l.label,He(l,i)&&(l.kind==="pattern"?a`<code>${He(l,i)}</code>`:He(l,i))])} />
    <p class="faint">Version ${t.version}, ${M(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var Zt=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function wa({name:e,record:t,onSaved:n,onDone:o}){let[r,s]=g(t),[i,l]=g(()=>Xt(t?.definition??Fr)),[u,d]=g({}),[c,$]=g(!1),[m,p]=g(null),[f,_]=g({}),h=me(()=>Xt(r?.definition??Fr),[r]),{definition:w,errors:y}=Nr(i,r?.definition??{name:e}),O=!r||_e.some(v=>i[v.name]!==h[v.name]),N=Object.keys(y).length>0,k=t&&r&&t.version!==r.version?t:null;T(()=>{if(!O||!r)return;let v=ae=>ae.preventDefault();return addEventListener("beforeunload",v),()=>removeEventListener("beforeunload",v)},[O]);let Y=v=>ae=>{l(j=>({...j,[v]:ae})),_(j=>({...j,[v]:void 0}))},se=r?{replace:w,expected_version:r.version}:{create:{...w,name:e}},oe=()=>({edits:[se],...Ne(u.drain),...r?ze(u):{}}),ce=v=>p({theirs:v,...Mr(h,i,Xt(v.definition))}),G=v=>{if(v.reason==="STALE_VERSION")return S(ie`/v1/definitions/${e}`).then(j=>ce(j.record),j=>we(j.message,{tone:"deny"})),!0;let ae=v.fields?.filter(j=>_e.some(E=>j.field.endsWith(E.name)))??[];return ae.length===0?!1:(_(Object.fromEntries(ae.map(j=>[_e.find(E=>j.field.endsWith(E.name)).name,j.rule]))),!0)},J=v=>{let ae=y[v.name]??f[v.name],j=i[v.name],E={key:v.name,label:v.label,help:v.help,error:ae,class:j!==h[v.name]?"changed":""};if(v.kind==="flag")return a`<${pe} ...${E} checked=${j==="yes"} onChange=${te=>Y(v.name)(te?"yes":"no")} />`;if(v.kind==="choice")return a`<${Re} ...${E} value=${j} onChange=${Y(v.name)} options=${v.values.map(te=>[te.toLowerCase(),te.toLowerCase()])} />`;let B=v.kind==="labels"?3:v.name==="description"?2:void 0;return a`<${P} ...${E} value=${j} onInput=${Y(v.name)} area=${B} name=${v.name} inputmode=${v.kind==="number"?"numeric":void 0} />`},re=v=>{v.preventDefault(),!N&&O&&$(!0)};return m?a`<${Lr}
      of=${m}
      base=${r}
      onCancel=${()=>p(null)}
      onMerged=${v=>{s(m.theirs),l(v),p(null),$(!0)}}
    />`:a`<section class="panel">
    <div class="title"><h2>${r?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&a`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version at ${M(k.updated_at)}, while you edit.
      <button type="button" onClick=${()=>ce(k)}>Compare and merge</button></p>`}
    <form onSubmit=${re}>
      <div class="form">
        ${_e.filter(v=>!Zt.includes(v.name)&&v.kind!=="pattern"&&["description","labels"].includes(v.name)).map(J)}
        ${_e.filter(v=>v.kind==="pattern").map(J)}
        <${Pr} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${_e.filter(v=>!Zt.includes(v.name)&&v.kind!=="pattern"&&!["description","labels"].includes(v.name)).map(J)}
      </div>
      <details open=${Zt.some(v=>i[v]!==h[v]||y[v])}>
        <summary>Firings</summary>
        <div class="form">${_e.filter(v=>Zt.includes(v.name)).map(J)}</div>
      </details>
      <p class="row end sticky-end">
        ${O&&a`<span class="grow faint">Nothing is saved yet.</span>`}
        ${r&&a`<button type="button" onClick=${o}>${O?"Discard":"Back"}</button>`}
        <${q} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary" why=${N?"A field has a mistake.":O?"":"Nothing was changed."}>Review and save …<//>
      </p>
    </form>
    ${c&&a`<${ve}
      title=${r?`Save ${e}`:`Create ${e}`}
      verb=${r?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${u}
      preview=${async v=>C("/v1/preview",{edits:oe()},v)}
      run=${async v=>C("/v1/definitions:edit",{...oe(),...v})}
      done=${v=>`${e} is ${r?"saved":"created"}, as change ${v.revision}.`}
      onError=${G}
      onClose=${()=>$(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${r&&a`<details><summary>Only for a time, or with a drain</summary>
        <div class="form"><${ot} value=${u} set=${d} without="Then the old values come back. Empty: for good." /><${Je} value=${u} set=${d} /></div>
      </details>`}
    <//>`}
  </section>`}function qr({name:e,events:t}){let n=x(r=>S("/v1/jobs",{semaphore:e,page_size:200},r),["jobs",e,t],{every:5e3,keep:!0}),o=x(r=>S("/v1/workers",{semaphore:e},r),["workers",e,t],{every:5e3,keep:!0});return a`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${H} of=${n} what="Reading the jobs">
        ${r=>r.jobs?.length?a`<${Rn} jobs=${r.jobs} />`:a`<${R} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${H} of=${o} what="Reading the workers">${r=>a`<${On} data=${r} />`}<//>
    </section>
  </div>`}var ka=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],Ea=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+A(n.expires_in):0}));function xa(e){let t=x(d=>S(ie`/v1/definitions/${e}`,{},d),["record",e],{every:15e3}),n=x(async d=>{let c=Date.now();return Ea((await xe("/v1/holders",{names:[e]},"permits",d)).items,c)},["holders",e],{every:15e3}),o=x(async d=>({at:Date.now(),...await S("/v1/waiters",{names:[e],page_size:200},d)}),["waiters",e],{every:5e3}),[r,s]=g(null),[i,l]=g(0),u=Le(()=>{t.refresh(),n.refresh(),o.refresh(),l(d=>d+1)},40);return Ae("/v1/watch",{names:[e],permits:!0,live_every:"1s"},{open:d=>d&&u(),missed:u,message:({events:d=[]})=>d.length&&u(),live(d){let c=((d.live??d).semaphores??[]).find(p=>p.semaphore===e),$=Date.now(),m=new Map((c?.deadlines??[]).map(p=>[p.token,$+A(p.expires_in)]));n.set(p=>p?.map(f=>m.has(f.token)?{...f,deadline:m.get(f.token)}:f)),r&&(c?.waiters??0)!==r.waiters&&o.refresh(),s({waiters:c?.waiters??0})}}),{record:t,holders:n,waiters:o,live:r,events:i,read:u}}function Ta({record:e,onChange:t}){let[n,o]=g(""),r=e.definition.name,s=()=>o("");return a`
    ${e.pause?a`<${q} role="ROLE_OPERATOR" semaphore=${r} onClick=${()=>o("resume")}>Resume …<//>`:a`<${q} role="ROLE_OPERATOR" semaphore=${r} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(r)}`}>Move …</a>
    <${q} role="ROLE_EDITOR" semaphore=${r} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&a`<${Tr} selector=${{names:[r]}} onClose=${s} onDone=${t} />`}
    ${n==="resume"&&a`<${Sr} selector=${{names:[r]}} onClose=${s} onDone=${t} />`}
    ${n==="delete"&&a`<${ve}
      title=${`Delete ${r}`}
      verb="Delete it"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${r}
      preview=${i=>C("/v1/preview",{edits:{edits:[{delete:r,expected_version:e.version}]}},i)}
      run=${i=>C("/v1/definitions:edit",{edits:[{delete:r,expected_version:e.version}],...i})}
      done=${()=>`${r} is deleted.`}
      onDone=${()=>$e("/")}
      onClose=${s}
    />`}`}function Sa({record:e,holders:t,live:n}){let o=Number(e.used??0),r=e.definition.permits??0;return a`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${b(o)}<span class="faint"> / ${b(r)}</span></dd>
      <dd><${ke} share=${r?o/r:o?1:0} label="${o} of ${r} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${b(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${b(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function Ur({name:e}){ne(e);let t=xa(e),[n]=F(),o=n.get("tab")??"now",r=t.record.data?.record,s=t.record.error?.code==="NOT_FOUND",i=s&&!r;return a`
    <${X} aside=${r&&a`<${Ta} record=${r} onChange=${t.read} />`}>${e}<//>
    <${Ke} />
    ${s&&a`<p class="note">There is no definition of this name${r?" any more":""}. Its history and firings may still be known.</p>`}
    ${r&&!s&&a`<div class="standing">
      <p class="row">${yt(r).map(l=>a`<${Et} key=${l.value} value=${l.value} />`)}</p>
      ${Bt(r).map(l=>a`<p class="note">${l}</p>`)}
      <${Sa} record=${r} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!s&&!t.record.error.offline&&a`<${U} error=${t.record.error} retry=${t.record.refresh} />`}
    <${lt} of=${ka} label="Parts of this semaphore" />
    ${!r&&!s?!t.record.error&&a`<${ge} what="Reading the semaphore" />`:o==="rule"?a`<${jr} key=${e} name=${e} record=${s?null:r} onSaved=${t.read} />`:o==="history"?a`<${Rr} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?a`<${Dr} name=${e} events=${t.events} />`:o==="explain"?a`<${Cr} name=${e} />`:i?a`<${R} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at its <a href="?tab=history">history</a>.<//>`:o==="tasks"?a`<${qr} name=${e} events=${t.events} />`:a`<${Ir} name=${e} of=${t} />`}`}var Ca=[[/^\/$/,gr],[/^\/s\/(.+)$/,Ur],[/^\/move$/,kr],[/^\/activity$/,Go],[/^\/jobs$/,lr],[/^\/jobs\/(.+)$/,ur],[/^\/cluster$/,ar],[/^\/access$/,Jo]];function Da(){return ne("No such page"),a`<${X}>No such page<//><${R} title="There is nothing at this address."><a href="/">Go to the overview</a><//>`}function Ra(){let e=z(Ze).split("?")[0],t=z(je),[n,o]=g(!1),r=z(De);if(T(()=>{e!=="/login"&&!De.get()&&$n().catch(()=>{}).then(()=>o(!0))},[e==="/login",t]),e==="/login")return a`<${zt} bare><${pr} /><//>`;if(!r&&!n)return a`<${zt} bare><${ge} what="Asking who you are" /><//>`;let[s,i]=vo(e,Ca)??[Da,[]];return a`<${zt}><${s} key=${e} name=${i[0]} /><//>`}to(a`<${Ra} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
